import { formatQuery } from './api.js';
import { formatTime } from './format.js';
import { html } from './html.js';
import { Choice, Field, Loaded, PageHead, Pager, readForm, Table } from './parts.js';
import { useResource } from './resource.js';
import { goTo, linkTo } from './routing.js';

const parts = ['audit'];

const columns = [
  { title: 'When', by: 'atMs', cell: ({ atMs }) => formatTime(atMs) },
  {
    title: 'What',
    by: 'action',
    cell: (entry) =>
      html`<strong class="text">${entry.action}</strong><div class="narrow"><${Change} ...${entry} /></div>`,
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
      <${Field} id="actor" label="Who">
        <input id="actor" name="actor" type="search" maxlength="100" value=${query.actor ?? ''} />
      <//>
      <${Field} id="since" label="From (UTC)">
        <input id="since" name="since" type="datetime-local" value=${query.since ?? ''} />
      <//>
      <${Field} id="until" label="Before (UTC)">
        <input id="until" name="until" type="datetime-local" value=${query.until ?? ''} />
      <//>
      <button type="submit">Show</button>
    </form>
    <${Loaded} resource=${entries}>
      ${({ items, next }) =>
        html`<${Table} caption="Audit log" columns=${columns} rows=${items} empty="No changes found." />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>`;
}
