import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { AnswerOf, InputOf } from './api.ts';
import { Field, type Form, readChoice } from './fields.ts';
import { formatNumber } from './format.ts';
import { type Session, useDeclared } from './session.ts';

type PlanName = Session['declared']['planNames'][number];

interface PlanFieldsProps {
  /** The account whose plan changes. Absent for a new account. */
  readonly account?: Pick<AnswerOf<'GET /accounts/{account}'>, 'plan' | 'limits' | 'openHolds'>;
}

/** The field of the plan. For `enterprise`, also the fields of its limits. */
export function PlanFields({ account }: PlanFieldsProps) {
  const { planNames, listedLimits, openHoldsOf } = useDeclared();
  const [plan, setPlan] = useState<string>(account?.plan ?? 'free');
  const describe = (name: PlanName) => {
    if (name === 'enterprise') return 'its own numbers';
    const { perMinute, perDay } = listedLimits[name];
    return `${formatNumber(perMinute)} a minute, ${formatNumber(perDay)} a day`;
  };
  const option = (name: PlanName) =>
    html`<option value=${name} selected=${name === plan}>${`${name}: ${describe(name)}`}</option>`;
  const own = account?.plan === 'enterprise' ? account : undefined;
  const openHolds = `Open holds (default: ${formatNumber(openHoldsOf.enterprise)})`;
  return html`<${Field} id="plan" label="Plan">
      <select id="plan" name="plan" onChange=${(event: Event) => setPlan(readChoice(event))}>
        ${planNames.map(option)}
      </select>
    <//>
    ${plan === 'enterprise' && showNumber('perMinute', 'Requests a minute', own?.limits.perMinute, true)}
    ${plan === 'enterprise' && showNumber('perDay', 'Requests a day', own?.limits.perDay, true)}
    ${plan === 'enterprise' && showNumber('openHolds', openHolds, own?.openHolds, false)}`;
}

function showNumber(name: string, label: string, value: number | undefined, isRequired: boolean) {
  const id = `plan-${name}`;
  return html`<${Field} id=${id} label=${label}>
    <input id=${id} name=${name} inputmode="numeric" value=${value ?? ''} required=${isRequired} />
  <//>`;
}

/** Returns the fields of the API for the values of a form with PlanFields. */
export function readPlan({
  plan,
  perMinute,
  perDay,
  openHolds,
}: Form): InputOf<'PUT /accounts/{account}/plan'> {
  return {
    plan,
    perMinute: perMinute && toNumber(perMinute),
    perDay: perDay && toNumber(perDay),
    openHolds: openHolds && toNumber(openHolds),
  };
}

/** Returns a text that is not a number unchanged, so that the API refuses it with an error message. */
export function toNumber(text: string): number | string {
  return /^\d{1,13}$/.test(text.trim()) ? Number(text) : text;
}
