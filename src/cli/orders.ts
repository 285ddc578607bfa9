import { Command, InvalidArgumentError, Option } from 'commander';
import { AppError, OperatorError } from '../errors.ts';
import { isReference, type Order, type OrderStatus, orderStatuses } from '../orders/order.ts';
import type { OrderReader, Orders } from '../orders/orders.ts';
import { type JsonOption, jsonOption, parseInt64Id } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeJson, writeLine, writeTable } from './output.ts';
import type { Terminal } from './terminal.ts';

/** An operator sees and changes the orders of every account. */
const operator: OrderReader = { accountId: 0n, isManager: true };
const pageRows = 100;
const listedDefault = 100;
const listedMax = 10_000;

/** `orders`: what is reserved and sold. */
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
  readonly limit: number;
}

function listCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('list')
    .description('list the orders of all accounts, the newest first')
    .addOption(new Option('--status <status>', 'only orders of this status').choices(orderStatuses))
    .option('--pet <id>', 'only orders for this animal', parseInt64Id)
    .option('--reference <text>', 'only orders with this reference', parseReference)
    .option('--limit <count>', `how many at most, up to ${listedMax}`, parseCount, listedDefault)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store orders list\n  animal-store orders list --status reserved --json\n  animal-store orders list --pet 42',
    )
    .action(async ({ json, ...options }: ListOptions) => {
      const found = await withStore(({ orders }) => list(orders, options));
      if (json) writeJson(terminal, found);
      else writeOrderTable(terminal, found);
    });
}

function cancelCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('cancel')
    .description('cancel a reserved order; its animal is available again')
    .argument('<id>', 'the id of the order, as in orders list', parseInt64Id)
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store orders cancel 7')
    .action(async (id: bigint, { json }: JsonOption) => {
      const order = await withStore(({ orders }) => cancel(orders, id));
      if (json) writeJson(terminal, order);
      else writeLine(terminal, `the order ${id} is cancelled`);
    });
}

async function list(orders: Orders, { status, pet, reference, limit }: ListOptions): Promise<Order[]> {
  const filters = { status: status ?? null, petId: pet ?? null, reference: reference ?? null };
  const found: Order[] = [];
  let newestId: bigint | null = null;
  do {
    const rows = Math.min(pageRows, limit - found.length);
    const page: Awaited<ReturnType<Orders['list']>> = await orders.list(
      { ...filters, limit: rows, newestId },
      operator,
    );
    found.push(...page.orders);
    newestId = page.nextNewestId;
  } while (newestId !== null && found.length < limit);
  return found;
}

async function cancel(orders: Orders, id: bigint): Promise<Order> {
  try {
    return await orders.close('cancel', id, operator);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    throw new OperatorError(`there is no order "${id}": "orders list" shows them`);
  }
}

const headings = ['ID', 'ANIMAL', 'STATUS', 'ACCOUNT', 'REFERENCE', 'CREATED', 'EXPIRES', 'CLOSED'];

function writeOrderTable(terminal: Terminal, orders: readonly Order[]): void {
  const rows = orders.map(({ id, petId, status, account, reference, createdAt, expiresAt, closedAt }) => [
    String(id),
    String(petId),
    status,
    account ?? '-',
    reference ?? '-',
    createdAt,
    expiresAt,
    closedAt ?? '-',
  ]);
  writeTable(terminal, headings, rows);
}

function parseReference(text: string): string {
  if (isReference(text)) return text;
  throw new InvalidArgumentError(
    'It must have 1 to 255 characters, not all white space, no control characters.',
  );
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= listedMax) return Number(text);
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${listedMax}.`);
}
