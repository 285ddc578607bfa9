import { OperatorError } from '../../errors.ts';
import type { Value } from '../database.ts';
import type { Tables } from '../tables.ts';
import { type CopiedTable, copiedTables } from './copied-tables.ts';
import type { Row, WholeStore } from './whole-store.ts';

/** Number of rows of each table. */
export type CopiedRows = Readonly<Record<keyof Tables, number>>;

/** Called after every batch. `rows` is the number of rows moved or checked so far. */
export type OnCopied = (phase: 'moving' | 'checking', rows: number, rowsTotal: number) => void;

/**
 * Copies every table of a store to another store, reads both back, and compares them row by row. The target assigns new
 * ids only after the last assigned ids of the source. Returns the number of rows of each table. Throws OperatorError if
 * a row differs. The caller must not commit then.
 */
export async function copyTables(
  source: WholeStore,
  target: WholeStore,
  onCopied: OnCopied,
): Promise<CopiedRows> {
  const counts = new Map<keyof Tables, number>();
  for (const { name } of copiedTables) counts.set(name, await countRows(source, name));
  const rowsTotal = counts.values().reduce((sum, rows) => sum + rows, 0);

  const moved = countProgress((rows) => onCopied('moving', rows, rowsTotal));
  for (const table of copiedTables) await target.replaceRows(table.name, moved(source.readRows(table)));

  const checked = countProgress((rows) => onCopied('checking', rows, rowsTotal));
  for (const table of copiedTables)
    await compareRows(table, checked(source.readRows(table)), target.readRows(table));

  for (const { name, assignsIds } of copiedTables) if (assignsIds) await continueIds(name, source, target);
  return Object.fromEntries(counts) as CopiedRows;
}

async function countRows(source: WholeStore, name: keyof Tables): Promise<number> {
  const [row] = await source.query(`select count(*) as rows from ${name}`);
  return Number(row?.['rows']);
}

/** Passes batches on, and reports the total number of rows after each batch. */
function countProgress(report: (rows: number) => void) {
  let rows = 0;
  return async function* (batches: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
    for await (const batch of batches) {
      yield batch;
      rows += batch.length;
      report(rows);
    }
  };
}

async function compareRows(
  { name }: CopiedTable,
  originals: AsyncGenerator<readonly Row[]>,
  copies: AsyncGenerator<readonly Row[]>,
): Promise<void> {
  for (;;) {
    const [original, copy] = await Promise.all([originals.next(), copies.next()]);
    if (original.done && copy.done) return;
    const isSame = !original.done && !copy.done && areSameRows(original.value, copy.value);
    if (!isSame) throw new OperatorError(`a row of ${name} was not copied exactly: nothing was moved`);
  }
}

function areSameRows(originals: readonly Row[], copies: readonly Row[]): boolean {
  return (
    originals.length === copies.length &&
    originals.every((row, index) =>
      Object.entries(row).every(([column, value]) => isSame(value, copies[index]?.[column])),
    )
  );
}

function isSame(original: Value, copy: Value | undefined): boolean {
  if (original instanceof Uint8Array)
    return copy instanceof Uint8Array && Buffer.compare(original, copy) === 0;
  return original === copy;
}

/**
 * Makes the target assign new ids only after the last id of the source. If the target has ever assigned a higher id,
 * the new ids come after that id.
 */
async function continueIds(name: keyof Tables, source: WholeStore, target: WholeStore): Promise<void> {
  const given = await source.readLastId(name);
  const last = await target.readLastId(name);
  await target.setLastId(name, given > last ? given : last);
}
