import { AccountState } from './accounts.js';
import { callApi } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { countThings, formatNumber, formatTime } from './format.js';
import { html } from './html.js';
import { AccountKeys } from './keys.js';
import { notify } from './notices.js';
import { Facts, Field, Loaded, PageHead } from './parts.js';
import { PlanFields, readPlan, toNumber } from './plan-fields.js';
import { useResource } from './resource.js';
import { goTo, linkTo } from './routing.js';
import { Usage, Windows } from './usage.js';
import { WebhookTable } from './webhooks.js';

const liveMs = 5_000;

export function Account({ id: name, query }) {
  const path = `/accounts/${encodeURIComponent(name)}`;
  const page = query.keysFrom === undefined ? '' : `?keysFrom=${encodeURIComponent(query.keysFrom)}`;
  const account = useResource(`${path}${page}`, liveMs);
  const dialog = useDialog();
  const { reload } = account;
  const ask = (Dialog, data) => () =>
    dialog.open(html`<${Dialog} account=${data} path=${path} onDone=${reload} />`);
  return html`<${Loaded} resource=${account}>
    ${(data, now) =>
      html`<${PageHead} title=${data.account}>
          <button type="button" onClick=${ask(PlanDialog, data)}>Change the plan</button>
          <button type="button" onClick=${ask(LimitsDialog, data)}>Set limits</button>
          <button type="button" onClick=${ask(ResetDialog, data)}>Reset windows</button>
          <button type="button" onClick=${ask(RenameDialog, data)}>Rename</button>
          ${
            data.suspendedAtMs === null
              ? html`<button type="button" class="danger" onClick=${ask(SuspendDialog, data)}>Suspend</button>`
              : html`<button type="button" onClick=${ask(ResumeDialog, data)}>Resume</button>`
          }
          <button type="button" class="danger" onClick=${ask(DeleteDialog, data)}>Delete</button>
        <//>
        <${Facts}
          facts=${[
            ['State', html`<${AccountState} ...${data} />`],
            ['Plan', data.plan],
            ['Limits', describeLimits(data)],
            [
              'Open holds',
              html`${formatNumber(data.holdsOpen)} of ${formatNumber(data.openHolds)}
                ${' '}<a href=${linkTo(['orders'], { account: data.account })}>All orders</a>`,
            ],
            ['Created', formatTime(data.createdAtMs)],
            ['Failed', html`<a href=${linkTo(['requests'], { account: data.account })}>Failed requests</a>`],
            ['Changes', html`<a href=${linkTo(['audit'], { account: data.account })}>Audit log</a>`],
          ]}
        />
        <${Windows} minute=${data.minute} day=${data.day} now=${now} />
        <${Usage} hours=${data.usage} nowMs=${data.nowMs} />
        <${AccountKeys} account=${data} now=${now} onChange=${reload} />
        <${AccountWebhooks} account=${data} onChange=${reload} />`}
  <//>
  ${dialog.shown}`;
}

function AccountWebhooks({ account, onChange }) {
  return html`<section aria-labelledby="webhooks">
    <div class="page-head">
      <h2 id="webhooks">Webhooks</h2>
      <a href=${linkTo(['webhooks'], { account: account.account })}>Show in Webhooks</a>
    </div>
    <${WebhookTable} webhooks=${account.webhooks} oldest=${account.oldest} onChange=${onChange} empty="This account has no webhook." />
  </section>`;
}

function PlanDialog({ account, path, ...own }) {
  const act = (fields) => callApi('PUT', `${path}/plan`, readPlan(fields));
  return html`<${ActDialog}
    title=${`Change the plan of ${account.account}`}
    label="Save"
    act=${act}
    notice=${`The plan of ${account.account} is changed. The new limits apply within 2 seconds, or 5 with several instances.`}
    ...${own}
  >
    <${PlanFields} account=${account} />
    <p class="hint">Requests of the current minute and day still count.</p>
  <//>`;
}

function describeLimits({ limits, ownLimits }) {
  const numbers = `${formatNumber(limits.perMinute)} a minute, ${formatNumber(limits.perDay)} a day`;
  if (ownLimits === null) return numbers;
  return `${numbers}, set for this account${ownLimits.untilMs === null ? '' : ` until ${formatTime(ownLimits.untilMs)}`}`;
}

function LimitsDialog({ account, path, ...own }) {
  const act = ({ perMinute = '', perDay = '', days }) =>
    callApi('PUT', `${path}/limits`, {
      perMinute: toNumber(perMinute),
      perDay: toNumber(perDay),
      ...(days !== undefined && { days: toNumber(days) }),
    });
  return html`<${ActDialog}
    title=${`Limits of ${account.account}`}
    label="Save"
    act=${act}
    notice=${`The limits of ${account.account} apply within 2 seconds, or 5 with several instances.`}
    ...${own}
  >
    <${Field} id="limit-minute" label="Requests a minute">
      <input id="limit-minute" name="perMinute" inputmode="numeric" value=${account.limits.perMinute} required />
    <//>
    <${Field} id="limit-day" label="Requests a day">
      <input id="limit-day" name="perDay" inputmode="numeric" value=${account.limits.perDay} required />
    <//>
    <${Field} id="limit-days" label="For how many days (empty: until the plan changes)">
      <input id="limit-days" name="days" inputmode="numeric" />
    <//>
  <//>`;
}

function ResetDialog({ account, path, ...own }) {
  return html`<${ActDialog}
    label=${`Reset the windows of ${account.account}`}
    act=${() => callApi('POST', `${path}/reset-limits`)}
    notice=${`The windows of ${account.account} start again.`}
    ...${own}
  >
    <p>The minute and the day of the account start again within 2 seconds. Bans of keys stay.</p>
  <//>`;
}

function RenameDialog({ account, path, ...own }) {
  const act = ({ name = '' }) => callApi('PUT', `${path}/name`, { name });
  function finish({ account: renamed }) {
    notify(`The account is renamed to ${renamed}.`);
    goTo(['accounts', renamed]);
  }
  return html`<${ActDialog} title=${`Rename ${account.account}`} label="Save" act=${act} ...${own} onDone=${finish}>
    <${Field} id="new-name" label="New name">
      <input id="new-name" name="name" value=${account.account} maxlength="200" required />
    <//>
  <//>`;
}

function SuspendDialog({ account, path, ...own }) {
  return html`<${ActDialog}
    label=${`Suspend ${account.account}`}
    isDangerous
    act=${() => callApi('POST', `${path}/suspend`)}
    notice=${`${account.account} is suspended.`}
    ...${own}
  >
    <p>
      Within 2 seconds, requests of the account get 403, its webhooks pause, and its open holds expire. Nothing is deleted.
      You can resume the account later.
    </p>
  <//>`;
}

function ResumeDialog({ account, path, ...own }) {
  return html`<${ActDialog}
    label=${`Resume ${account.account}`}
    act=${() => callApi('POST', `${path}/resume`)}
    notice=${`${account.account} is resumed.`}
    ...${own}
  >
    <p>The keys of the account work again within 2 seconds, or 5 with several instances.</p>
  <//>`;
}

function DeleteDialog({ account, path, ...own }) {
  const act = ({ confirm = '', keepDays }) =>
    callApi('POST', `${path}/delete`, {
      confirm,
      ...(keepDays !== undefined && { keepDays: toNumber(keepDays) }),
    });
  function finish({ keys, webhooks, holds }) {
    const ended = [
      countThings(keys, 'key'),
      countThings(webhooks, 'webhook'),
      countThings(holds, 'open hold'),
    ];
    notify(`The account is deleted with ${ended.join(', ')}.`);
    goTo(['accounts']);
  }
  return html`<${ActDialog}
    label=${`Delete ${account.account}`}
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
