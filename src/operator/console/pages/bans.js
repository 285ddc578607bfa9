import { formatQuery } from './api.js';
import { useDialog } from './dialog.js';
import { formatTime, formatTimeLeft } from './format.js';
import { html } from './html.js';
import { LiftDialog } from './keys.js';
import { AccountLink, Badge, Loaded, PageHead, Pager, Table } from './parts.js';
import { useResource, useTime } from './resource.js';
import { linkTo } from './routing.js';

const parts = ['bans'];
const liveMs = 5_000;

export function Bans({ query }) {
  const bans = useResource(`/bans${formatQuery(query)}`, liveMs);
  const empty = query.before === undefined ? 'No key is banned.' : 'The bans on this page have ended.';
  return html`<${PageHead} title="Bans" />
    <${Loaded} resource=${bans}>
      ${({ items, next }, now) =>
        html`<${BanTable} bans=${items} now=${now} onChange=${bans.reload} empty=${empty} />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>`;
}

function BanTable({ bans, now, onChange, empty }) {
  const dialog = useDialog();
  const ask = (item) => dialog.open(html`<${LiftDialog} item=${item} onDone=${onChange} />`);
  const columns = [
    {
      title: 'Key',
      cell: ({ id, start, name, account }) =>
        html`<a href=${linkTo(['accounts', account], { keysFrom: id })}><code>${start}…</code></a>
          ${' '}<span class="text">${name ?? ''}</span>${' '}<a href=${linkTo(['requests'], { key: id })}>its requests</a>`,
    },
    {
      title: 'Account',
      cell: ({ account }) => html`<${AccountLink} account=${account} />`,
    },
    { title: 'Banned since', isMinor: true, cell: ({ beganAtMs }) => formatTime(beganAtMs) },
    { title: 'Ban ends', cell: (ban) => html`<${TimeLeft} ban=${ban} now=${now} />` },
    {
      title: 'Actions',
      cell: (ban) =>
        html`<button type="button" aria-label=${`Lift the ban ${ban.start}`} onClick=${() => ask(ban)}>Lift the ban</button>`,
    },
  ];
  return html`<${Table} caption="Bans" columns=${columns} rows=${bans} empty=${empty} />${dialog.shown}`;
}

function TimeLeft({ ban, now }) {
  const nowMs = useTime(now);
  if (ban.endsAtMs <= nowMs) return html`<${Badge}>ended<//>`;
  return html`<${Badge} kind="bad">in ${formatTimeLeft(ban.endsAtMs, nowMs)}<//><br />
    <span class="quiet minor">${formatTime(ban.endsAtMs)}</span>`;
}
