import { html } from 'htm/preact';
import { h } from 'preact';
import { useActs } from './acts.ts';
import type { AnswerOf, QueryOf } from './api.ts';
import { useDialog } from './dialog.ts';
import { formatTime, formatTimeLeft } from './format.ts';
import { LiftDialog } from './key-dialogs.ts';
import { AccountLink, Badge, PageHead, Pager, showLoaded } from './parts.ts';
import { type Now, useResource, useTime } from './resource.ts';
import { linkTo } from './routing.ts';
import { type Column, Table } from './table.ts';

const parts = ['bans'];
const liveMs = 5_000;

type Ban = AnswerOf<'GET /bans'>['items'][number];

const none =
  'No key is banned. A key that goes on sending after 429 is banned for a while, and stands here until the ban ends.';

export function Bans({ query }: { readonly query: QueryOf<'GET /bans'> }) {
  const bans = useResource('GET /bans', query, liveMs);
  const empty = query.before === undefined ? none : 'The bans on this page have ended.';
  return html`
    <${PageHead} title="Bans" />
    ${showLoaded(
      bans,
      ({ items, next }, now) => html`
        <${BanTable} bans=${items} now=${now} onChange=${bans.reload} empty=${empty} />
        <${Pager} parts=${parts} query=${query} next=${next} />
      `,
    )}
  `;
}

interface BanTableProps {
  readonly bans: readonly Ban[];
  readonly now: Now;
  readonly onChange: () => void;
  readonly empty: string;
}

function BanTable({ bans, now, onChange, empty }: BanTableProps) {
  const dialog = useDialog();
  const act = useActs();
  const lift = (item: Ban) => dialog.open((own) => h(LiftDialog, { ...own, item, onDone: onChange }));
  const columns: readonly Column<Ban>[] = [
    {
      title: 'Key',
      cell: ({ id, start, name, account }) =>
        html`<a href=${linkTo(['accounts', account], { keysFrom: id })}><code>${start}…</code></a>
          ${' '}<span class="text">${name ?? ''}</span>
          ${' '}<a href=${linkTo(['requests'], { key: id })}>its requests</a>`,
    },
    {
      title: 'Account',
      cell: ({ account }) => html`<${AccountLink} account=${account} />`,
    },
    { title: 'Banned since', cell: ({ beganAtMs }) => formatTime(beganAtMs) },
    { title: 'Ban ends', cell: (ban) => html`<${TimeLeft} ban=${ban} now=${now} />` },
    {
      title: 'Actions',
      needs: ['POST /keys/{keyId}/lift-ban'],
      cell: (ban) =>
        act('POST /keys/{keyId}/lift-ban', {
          label: 'Lift the ban',
          name: `Lift the ban ${ban.start}`,
          onClick: () => lift(ban),
        }),
    },
  ];
  return html`
    <${Table} caption="Bans" columns=${columns} rows=${bans} empty=${empty} />
    ${dialog.shown}
  `;
}

interface TimeLeftProps {
  readonly ban: Ban;
  readonly now: Now;
}

function TimeLeft({ ban: { endsAtMs }, now }: TimeLeftProps) {
  const nowMs = useTime(now);
  if (endsAtMs <= nowMs) return html`<${Badge}>ended<//>`;
  return html`<${Badge} kind="bad">in ${formatTimeLeft(endsAtMs, nowMs)}<//><br />
    <span class="quiet">${formatTime(endsAtMs)}</span>`;
}
