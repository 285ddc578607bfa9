import { Command, InvalidArgumentError, Option } from 'commander';
import { commandActor } from '../audit/audit-entry.ts';
import { AppError, OperatorError } from '../errors.ts';
import { type Acts, createActs, everyAccount } from '../operator/acts/acts.ts';
import { type Order, type OrderStatus, orderStatuses } from '../orders/order.ts';
import type { Orders } from '../orders/orders.ts';
import type { Store } from '../store.ts';
import { type JsonOption, jsonOption, parseAccountName, parseInt64Id, parseName } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { formatTime, writeJson, writeLine } from './output.ts';
import { type Column, writeColumns } from './table.ts';

const pageRows = 100;
const listedDefault = 100;
const listedMax = 10_000;

export function ordersCommand(context: CommandContext): Command {
  return new Command('orders')
    .description('list orders and cancel them')
    .addCommand(listCommand(context))
    .addCommand(cancelCommand(context))
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store orders list --status reserved\n  animal-store orders cancel 7',
    );
}

interface ListOptions extends JsonOption {
  readonly status?: OrderStatus;
  readonly pet?: bigint;
  readonly reference?: string;
  readonly account?: string;
  readonly limit: number;
}

function listCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('list')
    .description('list the orders of all accounts, newest first')
    .addOption(new Option('--status <status>', 'only orders with this status').choices(orderStatuses))
    .option('--pet <id>', 'only orders for this animal', parseInt64Id)
    .option('--reference <text>', 'only orders with this reference', parseName)
    .option('--account <name>', 'only orders of this account', parseAccountName)
    .option('--limit <count>', `maximum number of orders, up to ${listedMax}`, parseCount, listedDefault)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store orders list\n  animal-store orders list --status reserved --json\n  animal-store orders list --pet 42\n  animal-store orders list --account Acme',
    )
    .action(async ({ json, ...options }: ListOptions) => {
      const found = await withStore((store) => list(store, options));
      if (json) writeJson(terminal, found);
      else writeColumns(terminal, columns, found);
    });
}

function cancelCommand({ withStore, terminal, clock }: CommandContext): Command {
  return new Command('cancel')
    .description('cancel a reserved order; its animal becomes available again')
    .argument('<id>', 'the id of the order, as shown by "orders list"', parseInt64Id)
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store orders cancel 7')
    .action(async (id: bigint, { json }: JsonOption) => {
      const order = await withStore((store) => cancel(createActs(store, clock, commandActor()), id));
      if (json) writeJson(terminal, order);
      else writeLine(terminal, `the order ${id} is cancelled`);
    });
}

async function list(
  { orders, accounts }: Pick<Store, 'orders' | 'accounts'>,
  options: ListOptions,
): Promise<Order[]> {
  const { status, pet, reference, account, limit } = options;
  const ofAccount = account === undefined ? null : await accounts.findId(account);
  const filters = { status: status ?? null, petId: pet ?? null, reference: reference ?? null, ofAccount };
  const found: Order[] = [];
  let newestId: bigint | null = null;
  do {
    const rows = Math.min(pageRows, limit - found.length);
    const page: Awaited<ReturnType<Orders['list']>> = await orders.list(
      { ...filters, limit: rows, newestId },
      everyAccount,
    );
    found.push(...page.orders);
    newestId = page.nextNewestId;
  } while (newestId !== null && found.length < limit);
  return found;
}

async function cancel(acts: Acts, id: bigint): Promise<Order> {
  try {
    return await acts.closeOrder('cancel', id);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    throw new OperatorError(`there is no order "${id}": see "orders list"`);
  }
}

const columns: readonly Column<Order>[] = [
  { heading: 'ID', cell: ({ id }) => String(id) },
  { heading: 'ANIMAL', cell: ({ petId }) => String(petId) },
  { heading: 'STATUS', cell: ({ status }) => status },
  { heading: 'ACCOUNT', cell: ({ account }) => account ?? '-' },
  { heading: 'REFERENCE', cell: ({ reference }) => reference ?? '-', leavesAt: 1 },
  { heading: 'CREATED', cell: ({ createdAt }) => toMinute(createdAt), leavesAt: 4 },
  { heading: 'EXPIRES', cell: ({ expiresAt }) => toMinute(expiresAt), leavesAt: 2 },
  {
    heading: 'CLOSED',
    cell: ({ closedAt }) => (closedAt === undefined ? '-' : toMinute(closedAt)),
    leavesAt: 3,
  },
];

function toMinute(time: string): string {
  return formatTime(Date.parse(time));
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= listedMax) return Number(text);
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${listedMax}.`);
}
