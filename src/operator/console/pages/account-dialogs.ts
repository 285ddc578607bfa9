import { html } from 'htm/preact';
import { type AnswerOf, callApi, type InputOf } from './api.ts';
import { ActDialog, type Closing } from './dialog.ts';
import { Field, type Form } from './fields.ts';
import { countThings, formatTime } from './format.ts';
import { notify } from './notices.ts';
import { PlanFields, readPlan, toNumber } from './plan-fields.ts';
import { goTo } from './routing.ts';

export type AccountData = AnswerOf<'GET /accounts/{account}'>;

export interface AccountDialogProps extends Closing {
  readonly account: AccountData;
  readonly onDone: () => void;
}

export function PlanDialog({ account, ...own }: AccountDialogProps) {
  const { account: name } = account;
  const act = (form: Form) => callApi('PUT /accounts/{account}/plan', { account: name }, readPlan(form));
  return html`<${ActDialog}
    title=${`Change the plan of ${name}`}
    label="Save"
    act=${act}
    notice=${`The plan of ${name} is changed. The new limits apply within 2 seconds, or 5 with several instances.`}
    ...${own}
  >
    <${PlanFields} account=${account} />
    <p class="hint">Requests of the current minute and day still count.</p>
  <//>`;
}

export function LimitsDialog({ account: { account, limits, ownLimits }, ...own }: AccountDialogProps) {
  const end = ownLimits?.untilMs ?? null;
  const act = (form: Form) =>
    callApi('PUT /accounts/{account}/limits', { account }, readLimits(form, limits, end));
  const without = end === null ? 'until the plan changes' : `until ${formatTime(end)}, as now`;
  return html`<${ActDialog}
    title=${`Limits of ${account}`}
    label="Save"
    act=${act}
    notice=${`The limits of ${account} apply within 2 seconds, or 5 with several instances.`}
    ...${own}
  >
    <${Field} id="limit-minute" label="Requests a minute">
      <input id="limit-minute" name="perMinute" inputmode="numeric" value=${limits.perMinute} required />
    <//>
    <${Field} id="limit-day" label="Requests a day">
      <input id="limit-day" name="perDay" inputmode="numeric" value=${limits.perDay} required />
    <//>
    <${Field} id="limit-hours" label=${`For how many hours (empty: ${without})`}>
      <input id="limit-hours" name="hours" inputmode="numeric" />
    <//>
    ${end !== null && html`<label class="check"><input type="checkbox" name="isEndless" /> Without an end: until the plan changes</label>`}
  <//>`;
}

/**
 * Returns the fields of the API: the numbers that changed, and the present end unless the form has another one. For limits without
 * an end, both numbers, as in the command. A duration with another unit and a time mean the same as in the command.
 */
function readLimits(
  { perMinute = '', perDay = '', hours = '', isEndless }: Form,
  limits: AccountData['limits'],
  end: number | null,
): InputOf<'PUT /accounts/{account}/limits'> {
  const both = { perMinute: toNumber(perMinute), perDay: toNumber(perDay) };
  if (isEndless !== undefined && hours === '') return both;
  const present = end === null ? undefined : new Date(end).toISOString();
  const until = hours === '' ? present : hours.trim().replace(/^\d+$/, '$&h');
  const isMinute = both.perMinute !== limits.perMinute;
  const isDay = both.perDay !== limits.perDay;
  if (isMinute === isDay) return { ...both, until };
  return isMinute ? { perMinute: both.perMinute, until } : { perDay: both.perDay, until };
}

export function ResetDialog({ account: { account }, ...own }: AccountDialogProps) {
  return html`<${ActDialog}
    label=${`Reset the windows of ${account}`}
    act=${() => callApi('POST /accounts/{account}/reset-limits', { account })}
    notice=${`The windows of ${account} start again.`}
    ...${own}
  >
    <p>The minute and the day of the account start again within 2 seconds. Bans of keys stay.</p>
  <//>`;
}

export function RenameDialog({ account: { account }, ...own }: AccountDialogProps) {
  const act = ({ name = '' }: Form) => callApi('PUT /accounts/{account}/name', { account }, { name });
  /** The page of the old name does not exist any more. */
  function finish({ account: renamed }: AnswerOf<'PUT /accounts/{account}/name'>) {
    notify(`The account is renamed to ${renamed}.`);
    goTo(['accounts', renamed]);
  }
  return html`<${ActDialog}
    title=${`Rename ${account}`}
    label="Save"
    act=${act}
    ...${own}
    onDone=${finish}
  >
    <${Field} id="new-name" label="New name">
      <input id="new-name" name="name" value=${account} maxlength="200" required />
    <//>
  <//>`;
}

export function SuspendDialog({ account: { account }, ...own }: AccountDialogProps) {
  return html`<${ActDialog}
    label=${`Suspend ${account}`}
    isDangerous
    act=${() => callApi('POST /accounts/{account}/suspend', { account })}
    notice=${`${account} is suspended.`}
    ...${own}
  >
    <p>
      Within 2 seconds, requests of the account get 403, its webhooks pause, and its open holds expire. Nothing is deleted.
      You can resume the account later.
    </p>
  <//>`;
}

export function ResumeDialog({ account: { account }, ...own }: AccountDialogProps) {
  return html`<${ActDialog}
    label=${`Resume ${account}`}
    act=${() => callApi('POST /accounts/{account}/resume', { account })}
    notice=${`${account} is resumed.`}
    ...${own}
  >
    <p>The keys of the account work again within 2 seconds, or 5 with several instances.</p>
  <//>`;
}

export function DeleteDialog({ account: { account }, ...own }: AccountDialogProps) {
  const act = ({ confirm = '', keepDays }: Form) =>
    callApi(
      'POST /accounts/{account}/delete',
      { account },
      { confirm, keepDays: keepDays && toNumber(keepDays) },
    );
  function finish({ keys, webhooks, holds }: AnswerOf<'POST /accounts/{account}/delete'>) {
    const ended = [
      countThings(keys, 'key'),
      countThings(webhooks, 'webhook'),
      countThings(holds, 'open hold'),
    ];
    notify(`The account is deleted with ${ended.join(', ')}.`);
    goTo(['accounts']);
  }
  return html`<${ActDialog}
    label=${`Delete ${account}`}
    isDangerous
    act=${act}
    ...${own}
    onDone=${finish}
  >
    <p>
      The keys of the account are revoked, its webhooks deleted and its open holds cancelled. Its name, the references of its
      orders and its requests are erased. Its orders and events stay without names. This cannot be undone.
    </p>
    <${Field} id="delete-confirm" label="Type the name of the account">
      <input id="delete-confirm" name="confirm" maxlength="200" autocomplete="off" required />
    <//>
    <${Field} id="delete-keep" label="Refuse if an order was completed within so many days (empty: delete anyway)">
      <input id="delete-keep" name="keepDays" inputmode="numeric" />
    <//>
  <//>`;
}
