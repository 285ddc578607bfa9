import { html } from 'htm/preact';
import type { AnswerOf, QueryOf } from './api.ts';
import { Choice, Filters, TextFilter } from './fields.ts';
import { formatDuration, formatNumber, formatTime } from './format.ts';
import { AccountLink, Badge, PageHead, Pager, showLoaded } from './parts.ts';
import { useResource } from './resource.ts';
import { linkTo } from './routing.ts';
import { useDeclared, useSession } from './session.ts';
import { type Column, describeEmpty, Table } from './table.ts';

const parts = ['requests'];

type Request = AnswerOf<'GET /requests'>['items'][number];

const columns: readonly Column<Request>[] = [
  { title: 'When', isTime: true, cell: ({ lastAtMs }) => formatTime(lastAtMs) },
  {
    title: 'Operation',
    isMinor: true,
    cell: ({ operation }) => html`<span class="text">${operation ?? '–'}</span>`,
  },
  {
    title: 'Code',
    cell: ({ code, status, operation, message }) =>
      html`<${Badge} kind=${status >= 500 ? 'bad' : 'warn'}>${code ?? `slow ${status}`}<//>
        <div class="narrow text">${operation} ${message}</div>`,
  },
  {
    title: 'Message',
    isMinor: true,
    cell: ({ message }) => html`<span class="text">${message ?? '–'}</span>`,
  },
  { title: 'About', cell: ({ subject }) => html`<${Subject} subject=${subject} />` },
  { title: 'Account', cell: ({ account }) => html`<${AccountLink} account=${account} />` },
  { title: 'Status', cell: ({ status }) => status, isNumber: true, isMinor: true },
  { title: 'Times', cell: ({ times }) => formatNumber(times), isNumber: true, isMinor: true },
  { title: 'Took', cell: ({ durationMs }) => formatDuration(durationMs), isNumber: true, isMinor: true },
  { title: 'Key', cell: ({ keyId }) => keyId ?? '–', isMinor: true },
  { title: 'Address', cell: ({ address }) => address ?? '–', isMinor: true },
  {
    title: 'Request id',
    cell: ({ requestId }) => html`<span class="text">${requestId ?? '–'}</span>`,
    isMinor: true,
  },
];

/** The object that was refused. Each has a page to link to. */
function Subject({ subject }: Pick<Request, 'subject'>) {
  if (subject === null) return '–';
  const [, kind, id = ''] = /^(animal|order|webhook) ([\w-]+)$/.exec(subject) ?? [];
  const text = html`<span class="text">${subject}</span>`;
  return kind === undefined ? text : html`<a href=${linkTo([`${kind}s`, id])}>${text}</a>`;
}

const none =
  'No request failed in the last 7 days. Here are the requests that are refused, fail or take over a second.';

export function Requests({ query }: { readonly query: QueryOf<'GET /requests'> }) {
  const requests = useResource('GET /requests', query);
  const { errorCodes } = useDeclared();
  const { role } = useSession();
  return html`
    <${PageHead} title="Failed requests" />
    ${role === 'admin' && html`<p><a href=${linkTo(['strangers'])}>Addresses without a valid key</a></p>`}
    <${Filters} parts=${parts} query=${query} label="Filter the requests">
      <${TextFilter} name="account" label="Account" query=${query} />
      <${TextFilter} name="key" label="Key" query=${query} />
      <${TextFilter} name="status" label="Status" query=${query} type="number" min="100" max="599" />
      <${Choice} id="code" label="Code" name="code" value=${query.code} choices=${errorCodes} all="all" />
      <${TextFilter} name="since" label="From" query=${query} placeholder="2027-01-02 12:00" size="18" />
      <${TextFilter} name="until" label="Before" query=${query} placeholder="2027-01-03" size="18" />
      <${TextFilter} name="id" label="Request id" query=${query} />
    <//>
    ${showLoaded(
      requests,
      ({ items, next }) => html`
        <${Table} caption="Failed requests" columns=${columns} rows=${items} empty=${describeEmpty(parts, query, 'requests', none)} />
        <${Pager} parts=${parts} query=${query} next=${next} />
      `,
    )}
  `;
}
