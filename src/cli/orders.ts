import { Option } from 'commander';
import { type Order, OrderSchema, type OrderStatus, orderStatuses } from '../orders/order.ts';
import { everyAccount, getWithPet } from '../orders/orders.ts';
import type { Page } from '../storage/read-page.ts';
import type { Store } from '../store.ts';
import {
  accountFilter,
  checkRange,
  limitOption,
  numericId,
  sinceOption,
  type TimeRange,
  untilOption,
} from './arguments.ts';
import { type AppCommand, orMissing, type Printed, printLines, printTable } from './command.ts';
import { addExportOptions, type ExportOptions, exportRows } from './export.ts';
import { type Column, formatTime } from './output.ts';
import { parseInt64Id, parseName } from './parsers.ts';

export function addOrders(program: AppCommand): void {
  const orders = program.addGroup('orders', 'list, show, export, cancel and return orders');
  orders
    .addLeaf('list', 'list the orders of all accounts, newest first')
    .withExamples(
      'orders list',
      'orders list --status reserved --json',
      'orders list --pet 42',
      'orders list --account Acme',
    )
    .addOption(new Option('--status <status>', 'only orders with this status').choices(orderStatuses))
    .option('--pet <id>', 'only orders for this animal', parseInt64Id)
    .option('--reference <text>', 'only orders with this reference', parseName)
    .addOption(accountFilter('orders'))
    .addOption(limitOption('orders'))
    .doesWithStore(async (store, { limit, ...filters }: Filters & { readonly limit: number }) => {
      const readPage = await findOrders(store, filters);
      return printTable((await readPage(limit, null)).items, columns);
    });
  orders
    .addLeaf('show', 'show an order with its animal')
    .withExamples('orders show 7', 'orders show 7 --json')
    .addArgument(numericId('order'))
    .doesWithStore(async (store, _options, id: bigint) => show(store, id));
  addOrdersExport(orders);
  for (const [name, done, effect] of [
    ['cancel', 'cancelled', 'cancel a reserved order; its animal becomes available again'],
    ['return', 'returned', 'return a completed order; its animal becomes pending'],
  ] as const)
    orders
      .addLeaf(name, effect)
      .withExamples(`orders ${name} 7`)
      .addArgument(numericId('order'))
      .doesWithStore(async (store, _options, id: bigint) => {
        const order = await orMissing(describeMissing(id), () => store.closeOrder(name, id));
        return printLines(order, `the order ${id} is ${done}`);
      });
}

const describeMissing = (id: bigint) => `there is no order "${id}": see "orders list"`;

async function show(store: Store, id: bigint): Promise<Printed> {
  const found = await orMissing(describeMissing(id), () => getWithPet(store, id));
  const { order, pet } = found;
  const { petId, account = '-', reference = '-', closedAt = null } = order;
  const animal = pet === null ? 'deleted' : `${pet.name}, ${pet.status}`;
  const lines = [
    ['order', String(id)],
    ['status', order.status],
    ['animal', `${petId} (${animal})`],
    ['account', account],
    ['reference', reference],
    ['placed', order.createdAt],
    ['hold ends', order.expiresAt],
    ['closed', closedAt ?? '-'],
  ] as const;
  return printLines(found, ...lines.map(([label, text]) => label.padEnd(11) + text));
}

type Filters = Partial<{ status: OrderStatus; pet: bigint; reference: string; account: string }>;

/** Returns a function that reads a page of orders, which begins at the order `newestId` or at the newest one. */
async function findOrders({ orders, accounts }: Store, filters: Filters) {
  const { status = null, pet: petId = null, reference = null, account } = filters;
  const ofAccount = account === undefined ? null : await accounts.findId(account);
  return (limit: number, newestId: bigint | null) =>
    orders.list({ status, petId, reference, ofAccount, limit, newestId }, everyAccount);
}

type OrdersExportOptions = ExportOptions & Filters & TimeRange;

function addOrdersExport(orders: AppCommand): void {
  const leaf = orders
    .addLeaf('export', 'write orders as CSV or NDJSON, newest first')
    .withExamples(
      'orders export --output orders.csv',
      'orders export --account "Acme Zoo" --since 2026-11-01 --until 2026-12-01 > november.ndjson',
    )
    .withNotes(`References are written as the clients sent them. A spreadsheet may take a
reference that begins with =, +, - or @ for a formula: import it as text.`)
    .addOption(accountFilter('orders'))
    .addOption(sinceOption('orders placed', orders.context.clock))
    .addOption(untilOption('orders placed'));
  addExportOptions(leaf).does(async ({ withStore, terminal }, options: OrdersExportOptions) => {
    const { since = -Infinity, until = Infinity } = options;
    checkRange(options);
    return withStore(async (store) => {
      const found = listPlacedBetween(await findOrders(store, options), since, until);
      return exportRows(found, orderFields, 'order', options, terminal, store.audit);
    });
  });
}

const orderFields = Object.keys(OrderSchema.properties);
const pageRows = 1_000;

type ReadPage = Awaited<ReturnType<typeof findOrders>>;

async function* listPlacedBetween(readPage: ReadPage, sinceMs: number, untilMs: number) {
  let newestId: bigint | null = null;
  do {
    const { items, next }: Page<Order> = await readPage(pageRows, newestId);
    const placedAtMs = ({ createdAt }: Order) => Date.parse(createdAt);
    yield items.filter((order) => placedAtMs(order) >= sinceMs && placedAtMs(order) < untilMs);
    newestId = next;
  } while (newestId !== null);
}

const columns: readonly Column<Order>[] = [
  { heading: 'ID', cell: ({ id }) => String(id) },
  { heading: 'ANIMAL', cell: ({ petId }) => String(petId) },
  { heading: 'STATUS', cell: ({ status }) => status },
  { heading: 'ACCOUNT', cell: ({ account }) => account ?? '-' },
  { heading: 'REFERENCE', cell: ({ reference }) => reference ?? '-', leavesAt: 1 },
  { heading: 'CREATED', cell: ({ createdAt }) => formatTime(createdAt), leavesAt: 4 },
  { heading: 'EXPIRES', cell: ({ expiresAt }) => formatTime(expiresAt), leavesAt: 2 },
  { heading: 'CLOSED', cell: ({ closedAt }) => formatTime(closedAt), leavesAt: 3 },
];
