import { callApi, formatQuery } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { formatNumber, formatTime } from './format.js';
import { html } from './html.js';
import { notify } from './notices.js';
import {
  AccountLink,
  Badge,
  Choice,
  Field,
  Filters,
  Loaded,
  PageHead,
  Pager,
  Table,
  TextFilter,
} from './parts.js';
import { PlanFields, readPlan } from './plan-fields.js';
import { useResource } from './resource.js';
import { goTo } from './routing.js';

const parts = ['accounts'];
const sorts = ['newest', 'name', 'requests', 'refused', 'errors'];

const columns = [
  {
    title: 'Account',
    by: 'account',
    cell: ({ account }) => html`<${AccountLink} account=${account} />`,
  },
  { title: 'Plan', by: 'plan', isMinor: true, cell: ({ plan }) => plan },
  { title: 'A minute', isNumber: true, isMinor: true, cell: ({ limits }) => formatNumber(limits.perMinute) },
  { title: 'A day', isNumber: true, isMinor: true, cell: ({ limits }) => formatNumber(limits.perDay) },
  count('Requests', 'requests'),
  count('Refused', 'refused'),
  count('Errors', 'errors'),
  { title: 'State', cell: (account) => html`<${AccountState} ...${account} />` },
  { title: 'Created', by: 'createdAtMs', isMinor: true, cell: ({ createdAtMs }) => formatTime(createdAtMs) },
];

function count(title, field) {
  return { title, by: field, isNumber: true, cell: (account) => formatNumber(account[field]) };
}

export function AccountState({ suspendedAtMs }) {
  return suspendedAtMs === null
    ? html`<${Badge} kind="good">active<//>`
    : html`<${Badge} kind="bad">suspended since ${formatTime(suspendedAtMs)}<//>`;
}

export function Accounts({ query }) {
  const accounts = useResource(`/accounts${formatQuery(query)}`);
  const dialog = useDialog();
  const create = () => dialog.open(html`<${CreateDialog} />`);
  return html`<${PageHead} title="Accounts">
      <button type="button" class="main" onClick=${create}>New account</button>
    <//>
    <${Filters} parts=${parts} query=${query} label="Find accounts">
      <${TextFilter} name="name" label="Name begins with" query=${query} />
      <${Choice} id="sort" label="Order" name="sort" value=${query.sort} choices=${sorts} />
    <//>
    <${Loaded} resource=${accounts}>
      ${({ items, next }) =>
        html`<${Table} caption="Accounts" columns=${columns} rows=${items} empty="No account on this page matches." />
          <${Pager} parts=${parts} query=${query} next=${next} />
          <p class="hint">Requests, refused requests (429) and other errors are those of the last 24 hours. In their order, the list has the 50 accounts with the most.</p>`}
    <//>
    ${dialog.shown}`;
}

function CreateDialog(own) {
  const act = ({ account = '', ...fields }) => callApi('POST', '/accounts', { account, ...readPlan(fields) });
  function finish({ account }) {
    notify(`The account ${account} is created. It has no key yet.`);
    goTo(['accounts', account]);
  }
  return html`<${ActDialog} title="New account" label="Create the account" act=${act} ...${own} onDone=${finish}>
    <${Field} id="account-name" label="Name"><input id="account-name" name="account" maxlength="200" required /><//>
    <${PlanFields} />
  <//>`;
}
