import { formatQuery } from './api.js';
import { formatTime } from './format.js';
import { html } from './html.js';
import { Choice, Field, Loaded, PageHead, Pager, readForm, Table } from './parts.js';
import { useResource } from './resource.js';
import { goTo, linkTo } from './routing.js';

const parts = ['audit'];

const columns = [
  { title: 'When', cell: ({ atMs }) => formatTime(atMs) },
  {
    title: 'Who',
    cell: ({ actorKind, actor }) =>
      html`<span class="quiet">${actorKind}</span> <span class="text">${actor}</span>`,
  },
  { title: 'What', cell: ({ action }) => action },
  { title: 'Of', cell: (entry) => html`<${Subject} ...${entry} />` },
  { title: 'Before', cell: ({ before }) => html`<code class="text">${before ?? '–'}</code>` },
  { title: 'After', cell: ({ after }) => html`<code class="text">${after ?? '–'}</code>` },
];

function Subject({ action, subject, account }) {
  const place = action.startsWith('pet.')
    ? ['animals', subject]
    : account && !action.startsWith('order.')
      ? ['accounts', account]
      : null;
  const text = html`<span class="text">${subject}</span>`;
  return place === null ? text : html`<a href=${linkTo(place)}>${text}</a>`;
}

export function Audit({ query }) {
  const entries = useResource(`/audit${formatQuery(query)}`);
  function apply(event) {
    event.preventDefault();
    goTo(parts, readForm(event.target));
  }
  return html`<${PageHead} title="Audit log" />
    <form class="filters" onSubmit=${apply} role="search" aria-label="Filter the audit log" key=${formatQuery(query)}>
      <${Field} id="account" label="Account">
        <input id="account" name="account" type="search" maxlength="100" value=${query.account ?? ''} />
      <//>
      <${Choice} id="action" label="What" name="action" value=${query.action} choices=${entries.data?.actions ?? [query.action].filter(Boolean)} all="all" />
      <button type="submit">Show</button>
    </form>
    <${Loaded} resource=${entries}>
      ${({ items, next }) =>
        html`<${Table} caption="Audit log" columns=${columns} rows=${items} empty="No changes found." />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>`;
}
