import { formatQuery } from './api.js';
import { formatDuration, formatNumber, formatTime } from './format.js';
import { html } from './html.js';
import { Badge, Choice, Field, Loaded, PageHead, Pager, readForm, Table } from './parts.js';
import { useResource } from './resource.js';
import { goTo, linkTo } from './routing.js';

const parts = ['requests'];

const columns = [
  { title: 'When', cell: ({ lastAtMs }) => formatTime(lastAtMs) },
  {
    title: 'Status',
    cell: ({ status }) => html`<${Badge} kind=${status >= 500 ? 'bad' : 'warn'}>${status}<//>`,
  },
  { title: 'Code', cell: ({ code }) => code ?? 'slow' },
  {
    title: 'Account',
    cell: ({ account }) =>
      account === null ? '–' : html`<a class="text" href=${linkTo(['accounts', account])}>${account}</a>`,
  },
  { title: 'Message', cell: ({ message }) => html`<span class="text">${message ?? '–'}</span>` },
  { title: 'Times', cell: ({ times }) => formatNumber(times), isNumber: true, isMinor: true },
  {
    title: 'Operation',
    cell: ({ operation }) => html`<span class="text">${operation ?? '–'}</span>`,
    isMinor: true,
  },
  { title: 'Took', cell: ({ durationMs }) => formatDuration(durationMs), isNumber: true, isMinor: true },
  { title: 'Key', cell: ({ keyId }) => keyId ?? '–', isMinor: true },
  { title: 'Address', cell: ({ address }) => address ?? '–', isMinor: true },
  {
    title: 'Request id',
    cell: ({ requestId }) => html`<span class="text">${requestId ?? '–'}</span>`,
    isMinor: true,
  },
];

export function Requests({ query }) {
  const requests = useResource(`/requests${formatQuery(query)}`);
  function apply(event) {
    event.preventDefault();
    goTo(parts, readForm(event.target));
  }
  return html`<${PageHead} title="Failed requests" />
    <form class="filters" onSubmit=${apply} role="search" aria-label="Filter the requests" key=${formatQuery(query)}>
      <${Field} id="account" label="Account">
        <input id="account" name="account" type="search" maxlength="100" value=${query.account ?? ''} />
      <//>
      <${Field} id="key" label="Key">
        <input id="key" name="key" type="search" maxlength="100" value=${query.key ?? ''} />
      <//>
      <${Field} id="status" label="Status">
        <input id="status" name="status" type="number" min="200" max="599" value=${query.status ?? ''} />
      <//>
      <${Choice} id="code" label="Code" name="code" value=${query.code} choices=${requests.data?.codes ?? [query.code].filter(Boolean)} all="all" />
      <${Field} id="hours" label="Last hours">
        <input id="hours" name="hours" type="number" min="1" max="168" value=${query.hours ?? ''} />
      <//>
      <${Field} id="id" label="Request id">
        <input id="id" name="id" type="search" maxlength="100" value=${query.id ?? ''} />
      <//>
      <button type="submit">Show</button>
    </form>
    <${Loaded} resource=${requests}>
      ${({ items, next }) =>
        html`<${Table} caption="Failed requests" columns=${columns} rows=${items} empty="No request failed." />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>`;
}
