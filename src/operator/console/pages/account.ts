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
import { useActs } from './acts.ts';
import type { Address, QueryOf } from './api.ts';
import { useDialog } from './dialog.ts';
import { formatNumber, formatTime } from './format.ts';
import { AccountKeys } from './keys.ts';
import { type Fact, Facts, PageHead, showOne } from './parts.ts';
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
  const act = useActs();
  const { reload } = account;
  const ask = (Dialog: FunctionComponent<AccountDialogProps>, data: AccountData) => () =>
    dialog.open((own) => h(Dialog, { ...own, account: data, onDone: reload }));
  return html`
    ${showOne(
      'account',
      name,
      account,
      (data, now) => html`
        <${PageHead} title=${`Account ${data.account}`}>
          ${listActs(data).map(([address, button, Dialog]) => act(address, { ...button, onClick: ask(Dialog, data) }))}
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

type Act = readonly [
  Address,
  Omit<Parameters<ReturnType<typeof useActs>>[1], 'onClick'>,
  FunctionComponent<AccountDialogProps>,
];

/** What an operator can do to an account: the operation, its button and its dialog. */
function listActs({ suspendedAtMs }: AccountData): readonly Act[] {
  return [
    ['PUT /accounts/{account}/plan', { label: 'Change the plan' }, PlanDialog],
    ['PUT /accounts/{account}/limits', { label: 'Set limits' }, LimitsDialog],
    ['POST /accounts/{account}/reset-limits', { label: 'Reset windows' }, ResetDialog],
    ['PUT /accounts/{account}/name', { label: 'Rename' }, RenameDialog],
    suspendedAtMs === null
      ? ['POST /accounts/{account}/suspend', { label: 'Suspend', kind: 'danger' }, SuspendDialog]
      : ['POST /accounts/{account}/resume', { label: 'Resume' }, ResumeDialog],
    ['POST /accounts/{account}/delete', { label: 'Delete', kind: 'danger' }, DeleteDialog],
  ];
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
      empty="This account has no webhook. An account creates its webhooks itself, with a key that has the scope webhooks:manage."
    />
  </section>`;
}
