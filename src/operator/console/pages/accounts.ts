import { html } from 'htm/preact';
import { h } from 'preact';
import { useActs } from './acts.ts';
import { type AnswerOf, callApi, type QueryOf } from './api.ts';
import { ActDialog, type Closing, useDialog } from './dialog.ts';
import { Choice, Field, Filters, type Form, TextFilter } from './fields.ts';
import { formatNumber, formatTime } from './format.ts';
import { notify } from './notices.ts';
import { AccountLink, Badge, PageHead, Pager, showLoaded } from './parts.ts';
import { PlanFields, readPlan } from './plan-fields.ts';
import { useResource } from './resource.ts';
import { goTo } from './routing.ts';
import { useDeclared } from './session.ts';
import { type Column, describeEmpty, Table } from './table.ts';

const parts = ['accounts'];

type Account = AnswerOf<'GET /accounts'>['items'][number];

const columns: readonly Column<Account>[] = [
  {
    title: 'Account',
    by: 'account',
    cell: ({ account }) => html`<${AccountLink} account=${account} />`,
  },
  { title: 'Plan', by: 'plan', cell: ({ plan }) => plan },
  { title: 'A minute', isNumber: true, cell: ({ limits }) => formatNumber(limits.perMinute) },
  { title: 'A day', isNumber: true, cell: ({ limits }) => formatNumber(limits.perDay) },
  { title: 'Requests', by: 'requests', isNumber: true, cell: ({ requests }) => formatNumber(requests) },
  { title: 'Refused', by: 'refused', isNumber: true, cell: ({ refused }) => formatNumber(refused) },
  { title: 'Errors', by: 'errors', isNumber: true, cell: ({ errors }) => formatNumber(errors) },
  { title: 'State', cell: (account) => html`<${AccountState} ...${account} />` },
  { title: 'Created', by: 'createdAtMs', cell: ({ createdAtMs }) => formatTime(createdAtMs) },
];

export function AccountState({ suspendedAtMs }: Pick<Account, 'suspendedAtMs'>) {
  if (suspendedAtMs === null) return html`<${Badge} kind="good">active<//>`;
  return html`<${Badge} kind="bad">suspended since ${formatTime(suspendedAtMs)}<//>`;
}

export function Accounts({ query }: { readonly query: QueryOf<'GET /accounts'> }) {
  const accounts = useResource('GET /accounts', query);
  const { accountOrders } = useDeclared();
  const dialog = useDialog();
  const act = useActs();
  const create = () => dialog.open((own) => h(CreateDialog, own));
  const none =
    'No account yet. An account is a customer of the store, with a plan and keys. “New account” creates one.';
  return html`
    <${PageHead} title="Accounts">
      ${act('POST /accounts', { label: 'New account', kind: 'main', onClick: create })}
    <//>
    <${Filters} parts=${parts} query=${query} label="Find accounts">
      <${TextFilter} name="name" label="Name begins with" query=${query} />
      <${Choice} id="sort" label="Order" name="sort" value=${query.sort} choices=${accountOrders} />
    <//>
    ${showLoaded(
      accounts,
      ({ items, next }) => html`
        <${Table} caption="Accounts" columns=${columns} rows=${items} empty=${describeEmpty(parts, query, 'accounts', none)} />
        <${Pager} parts=${parts} query=${query} next=${next} />
        <p class="hint">
          Requests, refused requests (429) and other errors are those of the last 24 hours. In their order, the list has
          the 50 accounts with the most.
        </p>
      `,
    )}
    ${dialog.shown}
  `;
}

function CreateDialog(own: Closing) {
  const act = ({ account = '', ...fields }: Form) =>
    callApi('POST /accounts', {}, { account, ...readPlan(fields) });
  function finish({ account }: AnswerOf<'POST /accounts'>) {
    notify(`The account ${account} is created. It has no key yet.`);
    goTo(['accounts', account]);
  }
  return html`<${ActDialog}
    title="New account"
    label="Create the account"
    act=${act}
    ...${own}
    onDone=${finish}
  >
    <${Field} id="account-name" label="Name">
      <input id="account-name" name="account" maxlength="200" required />
    <//>
    <${PlanFields} />
  <//>`;
}
