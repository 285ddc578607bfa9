import { callApi, formatQuery } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { countThings, formatNumber, formatTime } from './format.js';
import { html } from './html.js';
import { notify } from './notices.js';
import { Badge, Field, Loaded, PageHead, Pager, readForm, Table } from './parts.js';
import { PlanFields, readPlan } from './plan-fields.js';
import { useResource } from './resource.js';
import { goTo, linkTo } from './routing.js';

const parts = ['accounts'];

const columns = [
  {
    title: 'Account',
    cell: ({ account }) => html`<a class="text" href=${linkTo(['accounts', account])}>${account}</a>`,
  },
  { title: 'Plan', cell: ({ plan }) => plan },
  { title: 'A minute', isNumber: true, cell: ({ limits }) => formatNumber(limits.perMinute) },
  { title: 'A day', isNumber: true, cell: ({ limits }) => formatNumber(limits.perDay) },
  { title: 'Open holds', isNumber: true, isMinor: true, cell: ({ openHolds }) => formatNumber(openHolds) },
  { title: 'State', cell: (account) => html`<${AccountState} ...${account} />` },
  { title: 'Created', isMinor: true, cell: ({ createdAtMs }) => formatTime(createdAtMs) },
];

export function AccountState({ suspendedAtMs }) {
  return suspendedAtMs === null
    ? html`<${Badge} kind="good">active<//>`
    : html`<${Badge} kind="bad">suspended since ${formatTime(suspendedAtMs)}<//>`;
}

export function Accounts({ query }) {
  const accounts = useResource(`/accounts${formatQuery(query)}`);
  const dialog = useDialog();
  function search(event) {
    event.preventDefault();
    goTo(parts, readForm(event.target));
  }
  const create = () => dialog.open(html`<${CreateDialog} />`);
  return html`<${PageHead} title="Accounts">
      <button type="button" class="main" onClick=${create}>New account</button>
    <//>
    <form class="filters" onSubmit=${search} role="search" aria-label="Find accounts" key=${formatQuery(query)}>
      <${Field} id="name" label="Name contains">
        <input id="name" name="name" type="search" maxlength="100" value=${query.name ?? ''} />
      <//>
      <button type="submit">Show</button>
    </form>
    <${Loaded} resource=${accounts}>
      ${({ items, next, searched }) =>
        html`${
          searched !== null &&
          html`<p role="status">
            ${countThings(items.length, 'account')} found. Searched ${countThings(searched, 'account')}.
            ${next === null ? ' The search is complete.' : ' There are more accounts to search.'}
          </p>`
        }
          <${Table} caption="Accounts" columns=${columns} rows=${items} empty="No account on this page matches." />
          <${Pager} parts=${parts} query=${query} next=${next} nextLabel=${searched === null ? 'Next page' : 'Search on'} />`}
    <//>
    ${dialog.shown}`;
}

function CreateDialog({ onClose }) {
  const act = ({ account = '', ...fields }) => callApi('POST', '/accounts', { account, ...readPlan(fields) });
  function finish({ account }) {
    notify(`The account ${account} is created. It has no key yet.`);
    goTo(['accounts', account]);
  }
  return html`<${ActDialog} title="New account" label="Create the account" act=${act} onDone=${finish} onClose=${onClose}>
    <${Field} id="account-name" label="Name"><input id="account-name" name="account" maxlength="200" required /><//>
    <${PlanFields} />
  <//>`;
}
