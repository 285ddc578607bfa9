import { formatQuery } from './api.js';
import { formatDuration, formatNumber, formatTime } from './format.js';
import { html } from './html.js';
import { AccountLink, Badge, Choice, Filters, Loaded, PageHead, Pager, Table, TextFilter } from './parts.js';
import { useResource } from './resource.js';

const parts = ['requests'];

const columns = [
  { title: 'When', isTime: true, cell: ({ lastAtMs }) => formatTime(lastAtMs) },
  {
    title: 'Status',
    cell: ({ status }) => html`<${Badge} kind=${status >= 500 ? 'bad' : 'warn'}>${status}<//>`,
  },
  {
    title: 'Code',
    cell: ({ code, message }) => html`${code ?? 'slow'}<div class="narrow text">${message}</div>`,
  },
  {
    title: 'Account',
    cell: ({ account }) => html`<${AccountLink} account=${account} />`,
  },
  {
    title: 'Message',
    isMinor: true,
    cell: ({ message }) => html`<span class="text">${message ?? '–'}</span>`,
  },
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
  return html`<${PageHead} title="Failed requests" />
    <${Filters} parts=${parts} query=${query} label="Filter the requests">
      <${TextFilter} name="account" label="Account" query=${query} />
      <${TextFilter} name="key" label="Key" query=${query} />
      <${TextFilter} name="status" label="Status" query=${query} type="number" min="200" max="599" />
      <${Choice} id="code" label="Code" name="code" value=${query.code} choices=${requests.data?.codes ?? [query.code].filter(Boolean)} all="all" />
      <${TextFilter} name="hours" label="Last hours" query=${query} type="number" min="1" max="168" />
      <${TextFilter} name="id" label="Request id" query=${query} />
    <//>
    <${Loaded} resource=${requests}>
      ${({ items, next }) =>
        html`<${Table} caption="Failed requests" columns=${columns} rows=${items} empty="No request failed." />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>`;
}
