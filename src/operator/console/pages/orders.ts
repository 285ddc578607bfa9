import { html } from 'htm/preact';
import { type ComponentChildren, h } from 'preact';
import type { OrderStatus } from '../../../orders/order.ts';
import { useActs } from './acts.ts';
import { type AnswerOf, callApi, type QueryOf } from './api.ts';
import { ActDialog, type Closing, type Dialogs, useDialog } from './dialog.ts';
import { Choice, Filters, TextFilter } from './fields.ts';
import { formatTime, formatTimeLeft } from './format.ts';
import { AccountLink, OrderLink, PageHead, Pager, State, showLoaded } from './parts.ts';
import { type Now, useResource, useTime } from './resource.ts';
import { linkTo } from './routing.ts';
import { useDeclared } from './session.ts';
import { type Column, describeEmpty, Table } from './table.ts';

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
  const none = 'No order yet. Here are the orders that accounts place, each of which holds an animal.';
  const empty = describeEmpty(parts, query, 'orders', none);
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
  readonly empty: ComponentChildren;
}

/** Returns a function that opens the dialog in which an operator closes an order. */
export function askToClose(dialog: Dialogs, onDone: () => void): OrderActProps['onAsk'] {
  return (order, act) => dialog.open((own) => h(CloseDialog, { ...own, order, act, onDone }));
}

/** A table of orders. Each row has a button for the action that the order's status and the operator's role allow. */
export function OrderTable({ orders, now, onChange, empty }: OrderTableProps) {
  const dialog = useDialog();
  const ask = askToClose(dialog, onChange);
  const columns: readonly Column<Order>[] = [
    { title: 'Order', isNumber: true, cell: ({ id }) => html`<${OrderLink} id=${id} />` },
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
      cell: ({ reference }) => html`<span class="text">${reference ?? '–'}</span>`,
    },
    { title: 'Placed', cell: ({ createdAt }) => formatTime(createdAt) },
    {
      title: 'Actions',
      needs: Object.values(acts).map(({ address }) => address),
      cell: (order) => html`<${OrderAct} order=${order} onAsk=${ask} />`,
    },
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

/** The time until the hold of an order ends. */
export function TimeLeft({ order: { status, expiresAt }, now }: TimeLeftProps) {
  const nowMs = useTime(now);
  if (status !== 'reserved') return '–';
  return html`<span title=${`until ${formatTime(expiresAt)}`}>${formatTimeLeft(expiresAt, nowMs)}</span>`;
}

interface OrderActProps {
  readonly order: Order;
  readonly onAsk: (order: Order, act: Act) => void;
}

/** The button that closes an order. There is none if its status or the operator's role does not allow it. */
export function OrderAct({ order, onAsk }: OrderActProps) {
  const show = useActs();
  const act = acts[order.status];
  if (act === undefined) return null;
  const { address, label } = act;
  return show(address, { label, name: `${label} the order ${order.id}`, onClick: () => onAsk(order, act) });
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
