import { html } from 'htm/preact';
import type { AnswerOf, QueryOf } from './api.ts';
import { Choice, Filters, TextFilter } from './fields.ts';
import { formatDuration, formatNumber, formatTime } from './format.ts';
import { AccountLink, Badge, type Fact, Facts, KeyLink, PageHead, Pager, showLoaded } from './parts.ts';
import { useResource } from './resource.ts';
import { linkTo } from './routing.ts';
import { useDeclared, useSession } from './session.ts';
import { type Column, describeEmpty, Table } from './table.ts';

const parts = ['requests'];

type Request = AnswerOf<'GET /requests'>['items'][number];

const columns: readonly Column<Request>[] = [
  { title: 'When', isTime: true, cell: (request) => html`<${Time} ...${request} />` },
  { title: 'Operation', cell: ({ operation }) => html`<span class="text">${operation ?? '–'}</span>` },
  { title: 'Code', cell: (request) => html`<${Code} ...${request} />` },
  {
    title: 'Message',
    isWide: true,
    cell: ({ message }) => html`<span class="text">${message ?? '–'}</span>`,
  },
  { title: 'About', cell: ({ subject }) => html`<${Subject} subject=${subject} />` },
  { title: 'Account', cell: ({ account }) => html`<${AccountLink} account=${account} />` },
];

/** The time of a request, which leads to all that is known about it, and how often it came. */
function Time({ lastAtMs, requestId, times }: Request) {
  const time = formatTime(lastAtMs);
  return html`${requestId === null ? time : html`<a href=${linkTo(parts, { id: requestId })}>${time}</a>`}
    ${times > 1 && html`<br /><span class="quiet">${formatNumber(times)} times</span>`}`;
}

function Code({ status, code }: Request) {
  return html`<${Badge} kind=${status >= 500 ? 'bad' : 'warn'}>${code ?? 'slow'}<//>${' '}<span class="quiet">${status}</span>`;
}

/** All that is known about a request. */
function listFacts(request: Request): readonly Fact[] {
  const {
    operation,
    message,
    subject,
    account,
    keyId,
    times,
    atMs,
    lastAtMs,
    durationMs,
    address,
    requestId,
  } = request;
  const text = (value: string | null) => html`<span class="text">${value ?? '–'}</span>`;
  return [
    [
      'When',
      times > 1
        ? `${formatNumber(times)} times from ${formatTime(atMs)} to ${formatTime(lastAtMs)}`
        : formatTime(lastAtMs),
    ],
    ['Operation', text(operation)],
    ['Code', html`<${Code} ...${request} />`],
    ['Message', text(message)],
    ['About', html`<${Subject} subject=${subject} />`],
    ['Account', html`<${AccountLink} account=${account} />`],
    ['Key', html`<${KeyLink} id=${keyId} account=${account} />`],
    ['Took', formatDuration(durationMs)],
    ['Address', text(address)],
    ['Request id', html`<code class="text">${requestId ?? '–'}</code>`],
  ];
}

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
    ${showLoaded(requests, ({ items, next }) =>
      query.id !== undefined && items.length > 0
        ? items.map((item) => html`<${Facts} key=${item.id} facts=${listFacts(item)} isList />`)
        : html`
        <${Table} caption="Failed requests" columns=${columns} rows=${items} empty=${describeEmpty(parts, query, 'requests', none)} />
        <${Pager} parts=${parts} query=${query} next=${next} />
      `,
    )}
  `;
}
