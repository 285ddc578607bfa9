import { callApi, formatQuery } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { formatTime, formatTimeLeft } from './format.js';
import { html } from './html.js';
import { AccountLink, Choice, Filters, Loaded, PageHead, Pager, State, Table, TextFilter } from './parts.js';
import { useResource, useTime } from './resource.js';
import { linkTo } from './routing.js';

const parts = ['orders'];
const statuses = ['reserved', 'completed', 'cancelled', 'expired', 'returned'];
const acts = {
  reserved: {
    action: 'cancel',
    label: 'Cancel',
    done: 'cancelled',
    after: 'The animal becomes available again.',
  },
  completed: {
    action: 'return',
    label: 'Return',
    done: 'returned',
    after: 'The animal becomes pending. Edit its status to offer it again.',
  },
};

export function Orders({ query }) {
  const orders = useResource(`/orders${formatQuery(query)}`);
  return html`<${PageHead} title="Orders" />
    <${Filters} parts=${parts} query=${query} label="Filter orders">
      <${Choice} id="status" label="Status" name="status" value=${query.status} choices=${statuses} all="all" />
      <${TextFilter} name="petId" label="Animal" query=${query} inputmode="numeric" size="8" />
      <${TextFilter} name="account" label="Account" query=${query} />
      <${TextFilter} name="reference" label="Reference" query=${query} />
    <//>
    <${Loaded} resource=${orders}>
      ${({ items, next }, now) =>
        html`<${OrderTable} orders=${items} now=${now} onChange=${orders.reload} empty="No order on this page matches." />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>`;
}

/**
 * A table of orders. Each row has a button for the action that the order's status allows. `now()` returns the time of
 * the service.
 */
export function OrderTable({ orders, now, onChange, empty }) {
  const dialog = useDialog();
  const ask = (order) => dialog.open(html`<${CloseDialog} order=${order} onDone=${onChange} />`);
  const columns = [
    { title: 'Order', isNumber: true, cell: ({ id }) => id },
    {
      title: 'Animal',
      isNumber: true,
      cell: ({ petId }) => html`<a href=${linkTo(['animals', petId])}>${petId}</a>`,
    },
    { title: 'Status', cell: (order) => html`<${State} state=${order.status} />` },
    { title: 'Time left', cell: (order) => html`<${TimeLeft} order=${order} now=${now} />` },
    {
      title: 'Account',
      cell: ({ account }) => html`<${AccountLink} account=${account} />`,
    },
    {
      title: 'Reference',
      isMinor: true,
      cell: ({ reference }) => html`<span class="text">${reference ?? '–'}</span>`,
    },
    { title: 'Placed', isMinor: true, cell: ({ createdAt }) => formatTime(createdAt) },
    { title: 'Actions', cell: (order) => html`<${OrderAct} order=${order} onAsk=${ask} />` },
  ];
  return html`<${Table} caption="Orders" columns=${columns} rows=${orders} empty=${empty} />${dialog.shown}`;
}

function TimeLeft({ order, now }) {
  const nowMs = useTime(now);
  return order.status === 'reserved'
    ? html`<span title=${`until ${formatTime(order.expiresAt)}`}>${formatTimeLeft(order.expiresAt, nowMs)}</span>`
    : '–';
}

function OrderAct({ order, onAsk }) {
  const act = acts[order.status];
  if (act === undefined) return '–';
  const name = `${act.label} the order ${order.id}`;
  return html`<button type="button" aria-label=${name} onClick=${() => onAsk(order)}>${act.label}</button>`;
}

function CloseDialog({ order, ...own }) {
  const { action, label, done, after } = acts[order.status];
  return html`<${ActDialog}
    title=${`${label} the order ${order.id}?`}
    label=${`${label} order ${order.id}`}
    isDangerous
    act=${() => callApi('POST', `/orders/${order.id}/${action}`)}
    notice=${`The order ${order.id} is ${done}.`}
    ...${own}
  >
    <p>
      This is the order of <strong class="text">${order.account}</strong> for the animal ${order.petId}. ${after} This cannot
      be undone.
    </p>
  <//>`;
}
