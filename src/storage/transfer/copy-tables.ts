import { hash } from 'node:crypto';
import { OperatorError } from '../../errors.ts';
import type { Value } from '../database.ts';
import type { Tables } from '../tables.ts';
import type { Row, StoreTable, WholeStore } from './whole-store.ts';

/**
 * Tables to which triggers of other tables write. They are filled last, which replaces the rows that the triggers wrote.
 * If one is forgotten here, a copy that fills it fails.
 */
const writtenByTriggers = [
  'event_outbox',
  'events',
  'event_gaps',
  'inventory_totals',
  'inventory_by_category',
  'inventory_changes',
  'usage_days',
];

/** Number of rows of each table. */
export type CopiedRows = Readonly<Record<keyof Tables, number>>;

/** Called after every batch. `rows` is the number of rows moved or checked so far. */
export type OnCopied = (phase: 'moving' | 'checking', rows: number, rowsTotal: number) => void;

/**
 * Copies every table, reads the copy back and compares it. The target assigns new ids only after those of the source.
 * Returns the number of rows of each table. Throws OperatorError if the target lacks a table of the source, or if a row
 * differs: do not commit then.
 */
export async function copyTables(
  source: WholeStore,
  target: WholeStore,
  onCopied: OnCopied,
): Promise<CopiedRows> {
  const tables = orderTables(await source.listTables());
  await requireTables(target, tables);
  const names = tables.map(({ name }) => name);
  const counts = new Map<string, number>();
  for (const name of names) {
    // The name is safe in SQL: the target, whose tables are those of this release, has it too.
    const [row] = await source.query(`select count(*) as rows from ${name}`);
    counts.set(name, Number(row?.['rows']));
  }
  const rowsTotal = counts.values().reduce((sum, rows) => sum + rows, 0);

  const moved = createTally((rows) => onCopied('moving', rows, rowsTotal));
  for (const name of names) {
    const rows = moved.pass(name, source.readRows(name));
    await target.replaceRows(name, rows);
  }

  const checked = createTally((rows) => onCopied('checking', rows, rowsTotal));
  for (const name of names) {
    const rows = checked.pass(name, target.readRows(name));
    for await (const _ of rows);
    if (checked.digests.get(name) !== moved.digests.get(name))
      throw new OperatorError(`a row of ${name} was not copied exactly: nothing was moved`);
  }

  const withIds = tables.filter(({ assignsIds }) => assignsIds);
  for (const { name } of withIds) await continueIds(name, source, target);
  return Object.fromEntries(counts) as CopiedRows;
}

/** Puts the tables into the order in which a copy fills them: a table comes after those to which it refers. */
function orderTables(tables: readonly StoreTable[]): StoreTable[] {
  const ordered = new Set<StoreTable>();
  const place = (table: StoreTable, placing: readonly StoreTable[]) => {
    // The table refers to itself, or to a table that refers to it.
    if (placing.includes(table)) return;
    const references = tables.filter(({ name }) => table.references.includes(name));
    for (const reference of references) place(reference, [...placing, table]);
    ordered.add(table);
  };
  const last = tables.filter(({ name }) => writtenByTriggers.includes(name));
  const others = tables.filter((table) => !last.includes(table));
  for (const table of [...others, ...last]) place(table, []);
  return [...ordered];
}

async function requireTables(target: WholeStore, tables: readonly StoreTable[]): Promise<void> {
  const known = new Set((await target.listTables()).map(({ name }) => name));
  const unknown = tables.filter(({ name }) => !known.has(name));
  if (unknown.length === 0) return;
  const names = unknown.map(({ name }) => name).join(', ');
  throw new OperatorError(
    `the store to move has tables that this release does not know: ${names}; nothing was moved`,
  );
}

/**
 * Passes rows on, and reports their number. Two tables with the same digest have the same rows, in any order, because it is the
 * sum of the digests of their rows.
 */
function createTally(report: (rows: number) => void) {
  const digests = new Map<string, bigint>();
  let rows = 0;

  async function* pass(name: string, batches: AsyncIterable<readonly Row[]>) {
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
  if (value instanceof Uint8Array) return ['bytes', Buffer.from(value).toString('hex')];
  // With its type, because the text "1" is not the integer 1.
  return [typeof value, String(value)];
}

/** Makes the target assign new ids only after all ids that the source or the target has ever assigned. */
async function continueIds(name: string, source: WholeStore, target: WholeStore): Promise<void> {
  const given = await source.readLastId(name);
  const own = await target.readLastId(name);
  const last = given > own ? given : own;
  if (last > 0n) await target.setLastId(name, last);
}
