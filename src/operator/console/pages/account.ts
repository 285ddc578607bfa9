import { html } from 'htm/preact';
import { type FunctionComponent, h } from 'preact';
import {
  type AccountData,
  type AccountDialogProps,
  DeleteDialog,
  LimitsDialog,
  PlanDialog,
  RenameDialog,
  ResetDialog,
  ResumeDialog,
  SuspendDialog,
} from './account-dialogs.ts';
import { AccountState } from './accounts.ts';
import type { QueryOf } from './api.ts';
import { useDialog } from './dialog.ts';
import { formatNumber, formatTime } from './format.ts';
import { AccountKeys } from './keys.ts';
import { type Fact, Facts, PageHead, showLoaded } from './parts.ts';
import { useResource } from './resource.ts';
import { linkTo } from './routing.ts';
import { Usage, UsageByDay, Windows } from './usage.ts';
import { WebhookTable } from './webhooks.ts';

const liveMs = 5_000;

interface AccountProps {
  readonly id: string;
  readonly query: QueryOf<'GET /accounts/{account}'>;
}

export function Account({ id: name, query: { keysFrom } }: AccountProps) {
  const account = useResource('GET /accounts/{account}', { account: name, keysFrom }, liveMs);
  const dialog = useDialog();
  const { reload } = account;
  const ask = (Dialog: FunctionComponent<AccountDialogProps>, data: AccountData) => () =>
    dialog.open((own) => h(Dialog, { ...own, account: data, onDone: reload }));
  return html`
    ${showLoaded(
      account,
      (data, now) => html`
        <${PageHead} title=${data.account}>
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
        <${Facts} facts=${listFacts(data)} />
        <${Windows} minute=${data.minute} day=${data.day} now=${now} />
        <${Usage} hours=${data.usage} nowMs=${data.nowMs} />
        <${UsageByDay} account=${data.account} />
        <${AccountKeys} account=${data} now=${now} onChange=${reload} />
        <${AccountWebhooks} account=${data} onChange=${reload} />
      `,
    )}
    ${dialog.shown}
  `;
}

function listFacts(data: AccountData): readonly Fact[] {
  const { account } = data;
  const holds = html`${formatNumber(data.holdsOpen)} of ${formatNumber(data.openHolds)}
    ${' '}<a href=${linkTo(['orders'], { account })}>All orders</a>`;
  return [
    ['State', html`<${AccountState} ...${data} />`],
    ['Plan', data.plan],
    ['Limits', describeLimits(data)],
    ['Open holds', holds],
    ['Created', formatTime(data.createdAtMs)],
    ['Failed', html`<a href=${linkTo(['requests'], { account })}>Failed requests</a>`],
    ['Changes', html`<a href=${linkTo(['audit'], { account })}>Audit log</a>`],
  ];
}

function describeLimits({ limits, ownLimits }: AccountData): string {
  const numbers = `${formatNumber(limits.perMinute)} a minute, ${formatNumber(limits.perDay)} a day`;
  if (ownLimits === null) return numbers;
  const end = ownLimits.untilMs === null ? '' : ` until ${formatTime(ownLimits.untilMs)}`;
  return `${numbers}, set for this account${end}`;
}

interface AccountWebhooksProps {
  readonly account: AccountData;
  readonly onChange: () => void;
}

function AccountWebhooks({ account, onChange }: AccountWebhooksProps) {
  return html`<section aria-labelledby="webhooks">
    <div class="page-head">
      <h2 id="webhooks">Webhooks</h2>
      <a href=${linkTo(['webhooks'], { account: account.account })}>Show in Webhooks</a>
    </div>
    <${WebhookTable}
      webhooks=${account.webhooks}
      oldest=${account.oldest}
      onChange=${onChange}
      empty="This account has no webhook."
    />
  </section>`;
}
