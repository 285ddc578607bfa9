import { type Command, Option } from 'commander';
import { commandActor } from '../audit/audit-entry.ts';
import { createChanges } from '../operator/changes.ts';
import { type Order, type OrderStatus, orderStatuses } from '../orders/order.ts';
import { everyAccount } from '../orders/orders.ts';
import type { Store } from '../store.ts';
import { accountFilter, limitOption, numericId, parseInt64Id, parseName, readPages } from './arguments.ts';
import {
  addGroup,
  addLeaf,
  type CommandContext,
  orMissing,
  printing,
  printLines,
  printTable,
} from './command.ts';
import { formatTime } from './output.ts';
import type { Column } from './table.ts';

const pageRows = 100;

export function addOrders(program: Command, context: CommandContext): void {
  const orders = addGroup(program, 'orders', 'list orders and cancel them');
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
    .action(
      printing(context, async (options: ListOptions) =>
        printTable(await context.withStore((store) => list(store, options)), columns, (order) => order),
      ),
    );
  addLeaf(orders, 'cancel', 'cancel a reserved order; its animal becomes available again', [
    'orders cancel 7',
  ])
    .addArgument(numericId('order'))
    .action(
      printing(context, async (_options, id: bigint) => {
        const order = await context.withStore((store) =>
          orMissing(`there is no order "${id}": see "orders list"`, () =>
            createChanges(store, context.clock, commandActor()).closeOrder('cancel', id),
          ),
        );
        return printLines(order, `the order ${id} is cancelled`);
      }),
    );
}

interface ListOptions {
  readonly status?: OrderStatus;
  readonly pet?: bigint;
  readonly reference?: string;
  readonly account?: string;
  readonly limit: number;
}

async function list({ orders, accounts }: Store, options: ListOptions): Promise<readonly Order[]> {
  const { status = null, pet: petId = null, reference = null, account, limit } = options;
  const ofAccount = account === undefined ? null : await accounts.findId(account);
  const filters = { status, petId, reference, ofAccount };
  return readPages(limit, pageRows, async (rows, newestId) => {
    const page = await orders.list({ ...filters, limit: rows, newestId }, everyAccount);
    return [page.orders, page.nextNewestId];
  });
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
