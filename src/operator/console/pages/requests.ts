import { html } from 'htm/preact';
import type { AnswerOf, QueryOf } from './api.ts';
import { Choice, Filters, TextFilter } from './fields.ts';
import { formatDuration, formatNumber, formatTime } from './format.ts';
import { AccountLink, Badge, PageHead, Pager, showLoaded } from './parts.ts';
import { useResource } from './resource.ts';
import { useDeclared } from './session.ts';
import { type Column, Table } from './table.ts';

const parts = ['requests'];

type Request = AnswerOf<'GET /requests'>['items'][number];

const columns: readonly Column<Request>[] = [
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

export function Requests({ query }: { readonly query: QueryOf<'GET /requests'> }) {
  const requests = useResource('GET /requests', query);
  const { errorCodes } = useDeclared();
  return html`
    <${PageHead} title="Failed requests" />
    <${Filters} parts=${parts} query=${query} label="Filter the requests">
      <${TextFilter} name="account" label="Account" query=${query} />
      <${TextFilter} name="key" label="Key" query=${query} />
      <${TextFilter} name="status" label="Status" query=${query} type="number" min="200" max="599" />
      <${Choice} id="code" label="Code" name="code" value=${query.code} choices=${errorCodes} all="all" />
      <${TextFilter} name="hours" label="Last hours" query=${query} type="number" min="1" max="168" />
      <${TextFilter} name="id" label="Request id" query=${query} />
    <//>
    ${showLoaded(
      requests,
      ({ items, next }) => html`
        <${Table} caption="Failed requests" columns=${columns} rows=${items} empty="No request failed." />
        <${Pager} parts=${parts} query=${query} next=${next} />
      `,
    )}
  `;
}
