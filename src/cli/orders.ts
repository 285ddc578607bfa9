import { type Command, Option } from 'commander';
import { UsageError } from '../errors.ts';
import { type Order, OrderSchema, type OrderStatus, orderStatuses } from '../orders/order.ts';
import { everyAccount } from '../orders/orders.ts';
import type { Page } from '../page.ts';
import type { Store } from '../store.ts';
import {
  accountFilter,
  limitOption,
  numericId,
  type Options,
  parseInt64Id,
  parseName,
  parseTime,
  sinceOption,
} from './arguments.ts';
import { addGroup, addLeaf, type CommandContext, orMissing, printLines, printTable } from './command.ts';
import { addExportOptions, exportRows } from './export.ts';
import { formatTime } from './output.ts';
import type { Column } from './table.ts';

export function addOrders(program: Command, context: CommandContext): void {
  const orders = addGroup(program, 'orders', 'list, export and cancel orders');
  addLeaf(orders, 'list', 'list the orders of all accounts, newest first', [
    'orders list',
    'orders list --status reserved --json',
    'orders list --pet 42',
    'orders list --account Acme',
  ])
    .addOption(new Option('--status <status>', 'only orders with this status').choices(orderStatuses))
    .option('--pet <id>', 'only orders for this animal', parseInt64Id)
    .option('--reference <text>', 'only orders with this reference', parseName)
    .addOption(accountFilter('orders'))
    .addOption(limitOption('orders'))
    .printing(context, async ({ limit, ...filters }: Filters & Options) => {
      const found = await context.withStore(async (store) => {
        const readPage = await findOrders(store, filters);
        return (await readPage(limit, null)).items;
      });
      return printTable(found, columns, (order) => order);
    });
  addOrdersExport(orders, context);
  addLeaf(orders, 'cancel', 'cancel a reserved order; its animal becomes available again', [
    'orders cancel 7',
  ])
    .addArgument(numericId('order'))
    .printing(context, async (_options, id: bigint) => {
      const order = await context.withStore((store) =>
        orMissing(`there is no order "${id}": see "orders list"`, () => store.closeOrder('cancel', id)),
      );
      return printLines(order, `the order ${id} is cancelled`);
    });
}

interface Filters {
  readonly status?: OrderStatus;
  readonly pet?: bigint;
  readonly reference?: string;
}

/** Returns a function that reads a page of orders, which begins at the order `newestId` or at the newest one. */
async function findOrders({ orders, accounts }: Store, options: Filters & Pick<Options, 'account'>) {
  const { status = null, pet: petId = null, reference = null, account } = options;
  const ofAccount = account === undefined ? null : await accounts.findId(account);
  return (limit: number, newestId: bigint | null) =>
    orders.list({ status, petId, reference, ofAccount, limit, newestId }, everyAccount);
}

function addOrdersExport(orders: Command, context: CommandContext): void {
  const command = addLeaf(
    orders,
    'export',
    'write orders as CSV or NDJSON, newest first',
    [
      'orders export --output orders.csv',
      'orders export --account "Acme Zoo" --since 2026-11-01 --until 2026-12-01 > november.ndjson',
    ],
    `References are written as the clients sent them. A spreadsheet may take a
reference that begins with =, +, - or @ for a formula: import it as text.`,
  )
    .addOption(accountFilter('orders'))
    .addOption(sinceOption('orders placed'))
    .option('--until <time>', 'only orders placed before this time', parseTime);
  addExportOptions(command, context).printing(context, ({ since, until, ...options }: Options) => {
    const [sinceMs, untilMs] = [since?.(context.clock()) ?? -Infinity, until ?? Infinity];
    if (sinceMs >= untilMs) throw new UsageError('--until must be later than --since');
    return context.withStore(async (store) => {
      const found = listPlacedBetween(await findOrders(store, options), sinceMs, untilMs);
      return exportRows(found, orderFields, 'order', options, context.terminal, store.audit);
    });
  });
}

const orderFields = Object.keys(OrderSchema.properties);
const pageRows = 1_000;

async function* listPlacedBetween(
  readPage: Awaited<ReturnType<typeof findOrders>>,
  sinceMs: number,
  untilMs: number,
) {
  let newestId: bigint | null = null;
  do {
    const page: Page<Order> = await readPage(pageRows, newestId);
    yield page.items.filter(({ createdAt }) => {
      const ms = Date.parse(createdAt);
      return ms >= sinceMs && ms < untilMs;
    });
    newestId = page.next;
  } while (newestId !== null);
}

const columns: readonly Column<Order>[] = [
  { heading: 'ID', cell: ({ id }) => String(id) },
  { heading: 'ANIMAL', cell: ({ petId }) => String(petId) },
  { heading: 'STATUS', cell: ({ status }) => status },
  { heading: 'ACCOUNT', cell: ({ account }) => account ?? '-' },
  { heading: 'REFERENCE', cell: ({ reference }) => reference ?? '-', leavesAt: 1 },
  { heading: 'CREATED', cell: ({ createdAt }) => toMinute(createdAt), leavesAt: 4 },
  { heading: 'EXPIRES', cell: ({ expiresAt }) => toMinute(expiresAt), leavesAt: 2 },
  { heading: 'CLOSED', cell: ({ closedAt }) => toMinute(closedAt), leavesAt: 3 },
];

function toMinute(time: string | undefined): string {
  return formatTime(time === undefined ? null : Date.parse(time));
}
