import { html } from 'htm/preact';
import { h } from 'preact';
import type { OrderStatus } from '../../../orders/order.ts';
import { type AnswerOf, callApi, type QueryOf } from './api.ts';
import { ActDialog, type Closing, useDialog } from './dialog.ts';
import { Choice, Filters, TextFilter } from './fields.ts';
import { formatTime, formatTimeLeft } from './format.ts';
import { AccountLink, PageHead, Pager, State, showLoaded } from './parts.ts';
import { type Now, useResource, useTime } from './resource.ts';
import { linkTo } from './routing.ts';
import { useDeclared } from './session.ts';
import { type Column, Table } from './table.ts';

const parts = ['orders'];

type Order = AnswerOf<'GET /orders'>['items'][number];

interface Act {
  readonly address: 'POST /orders/{orderId}/cancel' | 'POST /orders/{orderId}/return';
  readonly label: string;
  readonly done: OrderStatus;
  /** What happens to the animal. */
  readonly after: string;
}

/** How an operator closes an order, by the status of the order. */
const acts: Readonly<Partial<Record<OrderStatus, Act>>> = {
  reserved: {
    address: 'POST /orders/{orderId}/cancel',
    label: 'Cancel',
    done: 'cancelled',
    after: 'The animal becomes available again.',
  },
  completed: {
    address: 'POST /orders/{orderId}/return',
    label: 'Return',
    done: 'returned',
    after: 'The animal becomes pending. Edit its status to offer it again.',
  },
};

export function Orders({ query }: { readonly query: QueryOf<'GET /orders'> }) {
  const orders = useResource('GET /orders', query);
  const { orderStatuses } = useDeclared();
  const empty = 'No order on this page matches.';
  return html`
    <${PageHead} title="Orders" />
    <${Filters} parts=${parts} query=${query} label="Filter orders">
      <${Choice} id="status" label="Status" name="status" value=${query.status} choices=${orderStatuses} all="all" />
      <${TextFilter} name="petId" label="Animal" query=${query} inputmode="numeric" size="8" />
      <${TextFilter} name="account" label="Account" query=${query} />
      <${TextFilter} name="reference" label="Reference" query=${query} />
    <//>
    ${showLoaded(
      orders,
      ({ items, next }, now) => html`
        <${OrderTable} orders=${items} now=${now} onChange=${orders.reload} empty=${empty} />
        <${Pager} parts=${parts} query=${query} next=${next} />
      `,
    )}
  `;
}

interface OrderTableProps {
  readonly orders: readonly Order[];
  /** Returns the time of the service. */
  readonly now: Now;
  readonly onChange: () => void;
  readonly empty: string;
}

/** A table of orders. Each row has a button for the action that the order's status allows. */
export function OrderTable({ orders, now, onChange, empty }: OrderTableProps) {
  const dialog = useDialog();
  const ask = (order: Order, act: Act) =>
    dialog.open((own) => h(CloseDialog, { ...own, order, act, onDone: onChange }));
  const columns: readonly Column<Order>[] = [
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
  return html`
    <${Table} caption="Orders" columns=${columns} rows=${orders} empty=${empty} />
    ${dialog.shown}
  `;
}

interface TimeLeftProps {
  readonly order: Order;
  readonly now: Now;
}

function TimeLeft({ order: { status, expiresAt }, now }: TimeLeftProps) {
  const nowMs = useTime(now);
  if (status !== 'reserved') return '–';
  return html`<span title=${`until ${formatTime(expiresAt)}`}>${formatTimeLeft(expiresAt, nowMs)}</span>`;
}

interface OrderActProps {
  readonly order: Order;
  readonly onAsk: (order: Order, act: Act) => void;
}

function OrderAct({ order, onAsk }: OrderActProps) {
  const act = acts[order.status];
  if (act === undefined) return '–';
  const name = `${act.label} the order ${order.id}`;
  return html`<button type="button" aria-label=${name} onClick=${() => onAsk(order, act)}>${act.label}</button>`;
}

interface CloseDialogProps extends Closing {
  readonly order: Order;
  readonly act: Act;
  readonly onDone: () => void;
}

function CloseDialog({ order: { id, account, petId }, act, ...own }: CloseDialogProps) {
  const { address, label, done, after } = act;
  return html`<${ActDialog}
    title=${`${label} the order ${id}?`}
    label=${`${label} order ${id}`}
    isDangerous
    act=${() => callApi(address, { orderId: id })}
    notice=${`The order ${id} is ${done}.`}
    ...${own}
  >
    <p>
      This is the order of <strong class="text">${account}</strong> for the animal ${petId}. ${after} This cannot
      be undone.
    </p>
  <//>`;
}
