import { formatQuery } from './api.js';
import { formatTime } from './format.js';
import { html } from './html.js';
import { Choice, Filters, isDeleted, Loaded, PageHead, Pager, Table, TextFilter } from './parts.js';
import { useResource } from './resource.js';
import { linkTo } from './routing.js';

const parts = ['audit'];

const columns = [
  { title: 'When', isTime: true, by: 'atMs', cell: ({ atMs }) => formatTime(atMs) },
  {
    title: 'What',
    by: 'action',
    cell: (entry) =>
      html`<strong>${entry.action}</strong><div class="narrow"><${Change} ...${entry} /></div>`,
  },
  { title: 'Of', by: 'subject', cell: (entry) => html`<${Subject} ...${entry} />` },
  {
    title: 'Who',
    by: 'actor',
    isMinor: true,
    cell: (entry) => html`<${Actor} ...${entry} />`,
  },
  { title: 'Before', isMinor: true, cell: ({ before }) => html`<code class="text">${before ?? '–'}</code>` },
  { title: 'After', isMinor: true, cell: ({ after }) => html`<code class="text">${after ?? '–'}</code>` },
];

function Actor({ actorKind, actor }) {
  const [person] = actor.split(' in ');
  return html`<span class="quiet">${actorKind}</span>${' '}<a class="text" href=${linkTo(parts, { actor: person })}>${actor}</a>`;
}

/** The author and the values of a change, for a narrow screen. */
function Change(entry) {
  const { before, after } = entry;
  return html`<${Actor} ...${entry} />
    ${before && html`<br /><span class="quiet">before</span> <code class="text">${before}</code>`}
    ${after && html`<br /><span class="quiet">after</span> <code class="text">${after}</code>`}`;
}

function Subject({ action, subject, account }) {
  const place = action.startsWith('pet.')
    ? ['animals', subject]
    : account && !isDeleted(account) && !action.startsWith('order.')
      ? ['accounts', account]
      : null;
  const text = html`<span class="text">${subject}</span>`;
  return place === null ? text : html`<a href=${linkTo(place)}>${text}</a>`;
}

export function Audit({ query }) {
  const entries = useResource(`/audit${formatQuery(query)}`);
  return html`<${PageHead} title="Audit log" />
    <${Filters} parts=${parts} query=${query} label="Filter the audit log">
      <${TextFilter} name="account" label="Account" query=${query} />
      <${Choice} id="action" label="What" name="action" value=${query.action} choices=${entries.data?.actions ?? [query.action].filter(Boolean)} all="all" />
      <${TextFilter} name="actor" label="Who" query=${query} />
      <${TextFilter} name="since" label="From" query=${query} placeholder="2027-01-02 12:00" size="18" />
      <${TextFilter} name="until" label="Before" query=${query} placeholder="2027-01-03" size="18" />
    <//>
    <${Loaded} resource=${entries}>
      ${({ items, next }) =>
        html`<${Table} caption="Audit log" columns=${columns} rows=${items} empty="No changes found." />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>`;
}
