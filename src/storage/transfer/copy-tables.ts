import { hash } from 'node:crypto';
import { OperatorError } from '../../errors.ts';
import type { Value } from '../database.ts';
import type { Tables } from '../tables.ts';
import type { Row, WholeStore } from './copy-store.ts';

/** True if the store assigns the values of a table's column `id`. */
export const assignsIds: Readonly<Record<keyof Tables, boolean>> = {
  accounts: true,
  api_keys: false,
  requests: true,
  erasures: false,
  limit_resets: true,
  ban_lifts: true,
  usage_hours: false,
  audit: true,
  pets: true,
  categories: false,
  orders: true,
  event_outbox: true,
  events: true,
  event_horizon: false,
  event_gaps: false,
  inventory_totals: false,
  inventory_by_category: false,
  inventory_changes: true,
  first_answers: false,
  webhooks: true,
  webhook_secrets: true,
  webhook_requests: true,
  webhook_attempts: true,
  leases: false,
  usage_windows: false,
  key_bans: false,
  console_links: false,
  console_sessions: false,
  secrets: false,
};

/**
 * All tables of a store, in the order in which a copy fills them. Referenced tables come first. The triggers of animals,
 * categories and orders write events and inventory during the copy. So the tables of events and inventory come later,
 * and copying these tables replaces the rows that the triggers wrote.
 */
export const copiedTables = Object.keys(assignsIds) as readonly (keyof Tables)[];

/** Maximum number of rows that each side of a copy has in memory at once. */
export const batchRowsMax = 5_000;

/** Number of rows of each table. */
export type CopiedRows = Readonly<Record<keyof Tables, number>>;

/** Called after every batch. `rows` is the number of rows moved or checked so far. */
export type OnCopied = (phase: 'moving' | 'checking', rows: number, rowsTotal: number) => void;

/**
 * Copies every table, reads the copy back and compares it. The target assigns new ids only after those of the source.
 * Returns the number of rows of each table. Throws OperatorError if a row differs: do not commit then.
 */
export async function copyTables(
  source: WholeStore,
  target: WholeStore,
  onCopied: OnCopied,
): Promise<CopiedRows> {
  const counts = new Map<keyof Tables, number>();
  for (const name of copiedTables) {
    const [row] = await source.query(`select count(*) as rows from ${name}`);
    counts.set(name, Number(row?.['rows']));
  }
  const rowsTotal = counts.values().reduce((sum, rows) => sum + rows, 0);

  const moved = createTally((rows) => onCopied('moving', rows, rowsTotal));
  for (const name of copiedTables) await target.replaceRows(name, moved.pass(name, source.readRows(name)));

  const checked = createTally((rows) => onCopied('checking', rows, rowsTotal));
  for (const name of copiedTables) {
    for await (const _ of checked.pass(name, target.readRows(name)));
    if (checked.digests.get(name) !== moved.digests.get(name))
      throw new OperatorError(`a row of ${name} was not copied exactly: nothing was moved`);
  }

  for (const name of copiedTables) if (assignsIds[name]) await continueIds(name, source, target);
  return Object.fromEntries(counts) as CopiedRows;
}

/** Passes rows on, and reports their number. Two tables with the same digest have the same rows, in any order. */
function createTally(report: (rows: number) => void) {
  const digests = new Map<keyof Tables, bigint>();
  let rows = 0;

  async function* pass(name: keyof Tables, batches: AsyncIterable<readonly Row[]>) {
    let digest = 0n;
    for await (const batch of batches) {
      yield batch;
      for (const row of batch) digest += digestRow(row);
      rows += batch.length;
      report(rows);
    }
    digests.set(name, digest);
  }
  return { digests, pass };
}

/** The engines may return the columns of a row in different orders. */
function digestRow(row: Row): bigint {
  const values = Object.keys(row)
    .sort()
    .map((column) => [column, ...describeValue(row[column])]);
  return BigInt(`0x${hash('sha256', JSON.stringify(values))}`);
}

function describeValue(value: Value | undefined): readonly string[] {
  return value instanceof Uint8Array
    ? ['bytes', Buffer.from(value).toString('hex')]
    : [typeof value, String(value)];
}

/** Makes the target assign new ids only after all ids that the source or the target has ever assigned. */
async function continueIds(name: keyof Tables, source: WholeStore, target: WholeStore): Promise<void> {
  const given = await source.readLastId(name);
  const own = await target.readLastId(name);
  const last = given > own ? given : own;
  if (last > 0n) await target.setLastId(name, last);
}
