import { useState } from 'preact/hooks';
import { html } from './html.js';
import { Field } from './parts.js';

const plans = {
  free: 'free: 60 a minute, 1,000 a day',
  pro: 'pro: 300 a minute, 10,000 a day',
  business: 'business: 1,000 a minute, 100,000 a day',
  enterprise: 'enterprise: its own numbers',
};

/** The field of the plan. For `enterprise`, also the fields of its limits. */
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
        ${Object.entries(plans).map(([name, label]) => html`<option value=${name} selected=${name === plan}>${label}</option>`)}
      </select>
    <//>
    ${
      isCustom &&
      html`${number('perMinute', 'Requests a minute', account?.limits.perMinute, true)}
    ${number('perDay', 'Requests a day', account?.limits.perDay, true)}
    ${number('openHolds', 'Open holds (default: 100)', account?.openHolds, false)}`
    }`;
}

export function readPlan({ plan, perMinute, perDay, openHolds }) {
  const numbers = Object.entries({ perMinute, perDay, openHolds }).filter(([, value]) => value !== undefined);
  return { plan, ...Object.fromEntries(numbers.map(([name, value]) => [name, toNumber(value)])) };
}

/** Returns a text that is not a number unchanged, so that the API refuses it with an error message. */
export function toNumber(text) {
  return /^\d{1,13}$/.test(text.trim()) ? Number(text) : text;
}
