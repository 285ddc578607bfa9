import { html } from 'htm/preact';
import type { AnswerOf } from './api.ts';
import { formatNumber, formatTime } from './format.ts';
import { PageHead, showLoaded } from './parts.ts';
import { useResource } from './resource.ts';
import { type Column, Table } from './table.ts';

type Stranger = AnswerOf<'GET /strangers'>['items'][number] & { readonly id: string };

const columns: readonly Column<Stranger>[] = [
  { title: 'Address', by: 'address', cell: ({ address }) => html`<code>${address}</code>` },
  { title: 'Refused', by: 'refusals', cell: ({ refusals }) => formatNumber(refusals), isNumber: true },
  { title: 'Last', by: 'lastAtMs', cell: ({ lastAtMs }) => formatTime(lastAtMs), isTime: true },
];

/** The addresses behind the alert AnimalStoreStrangers. */
export function Strangers() {
  const strangers = useResource('GET /strangers', {}, 60_000);
  return html`
    <${PageHead} title="Requests without a valid key" />
    <p>
      The addresses that sent the most refused requests in the last hour, up to the last minute. An IPv6 address stands
      for its network (/64).
    </p>
    ${showLoaded(strangers, ({ items }) => {
      const rows = items.map((item) => ({ id: item.address, ...item }));
      return html`<${Table}
        caption="Strangers"
        columns=${columns}
        rows=${rows}
        empty="No request without a valid key was refused."
      />`;
    })}
  `;
}
