import { useState } from 'preact/hooks';
import { html } from './html.js';
import { Field } from './parts.js';

const plans = ['free', 'pro', 'business', 'enterprise'];

/** The field of the plan, and for enterprise the fields of its numbers. */
export function PlanFields({ account }) {
  const [plan, setPlan] = useState(account?.plan ?? 'free');
  const isCustom = plan === 'enterprise';
  const isNow = account?.plan === 'enterprise';
  const number = (name, label, value, isRequired) =>
    html`<${Field} id=${`plan-${name}`} label=${label}>
      <input id=${`plan-${name}`} name=${name} inputmode="numeric" value=${isNow ? value : ''} required=${isRequired} />
    <//>`;
  return html`<${Field} id="plan" label="Plan">
      <select id="plan" name="plan" onChange=${(event) => setPlan(event.target.value)}>
        ${plans.map((name) => html`<option value=${name} selected=${name === plan}>${name}</option>`)}
      </select>
    <//>
    ${
      isCustom &&
      html`${number('perMinute', 'Requests a minute', account?.limits.perMinute, true)}
    ${number('perDay', 'Requests a day', account?.limits.perDay, true)}
    ${number('openHolds', 'Open holds (100 if left out)', account?.openHolds, false)}`
    }`;
}

/** The plan of a form, as the API expects it. */
export function readPlan({ plan, perMinute, perDay, openHolds }) {
  const numbers = Object.entries({ perMinute, perDay, openHolds }).filter(([, value]) => value !== undefined);
  return { plan, ...Object.fromEntries(numbers.map(([name, value]) => [name, toNumber(value)])) };
}

/** A text that is not a number stays a text, so that the API answers with an error message. */
export function toNumber(text) {
  return /^\d{1,13}$/.test(text.trim()) ? Number(text) : text;
}
