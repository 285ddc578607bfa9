/**
 * The writing thread of a store. Its connection is the only one in the process that writes, commits and makes
 * checkpoints.
 */
import { parentPort } from 'node:worker_threads';
import type { Transaction } from '../database.ts';
import { createRunBatch, type Job, type Outcome } from './batch.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy, type SqliteConnection } from './connection.ts';
import { type PackedError, packError } from './packed-error.ts';

/** A message to the writing thread: the path of a store to open, the jobs of one commit, or null to close the store. */
export type WritingOrder = string | readonly Job[] | null;

/** The answer of the writing thread to a message. `notDone` means that nothing was done. */
export type WritingAnswer = { readonly notDone: PackedError } | { readonly outcomes: readonly Outcome[] };

/**
 * Serves the writes of one store after another in this worker thread. The thread's entry calls it once with the list of
 * transactions.
 */
export function serveWrites(transactions: readonly Transaction<never, unknown>[]): void {
  if (parentPort === null) throw new Error('writes are served only in a worker thread');
  const port = parentPort;
  const byName = new Map(transactions.map((transaction) => [transaction.name, transaction]));
  let connection: SqliteConnection | undefined;
  let runBatch: ReturnType<typeof createRunBatch> = () => [];

  async function open(path: string): Promise<void> {
    connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
    // A savepoint keeps the original pages. Without `temp_store`, SQLite would write them to a temporary file beyond
    // 64 KiB.
    connection.raw.exec('pragma temp_store = memory');
    runBatch = createRunBatch(connection, byName);
  }

  async function follow(order: WritingOrder): Promise<WritingAnswer> {
    try {
      if (typeof order === 'string') await open(order);
      else if (order === null) connection?.close();
      else return { outcomes: runBatch(order) };
      return { outcomes: [] };
    } catch (error) {
      return { notDone: packError(error) };
    }
  }
  port.on('message', async (order: WritingOrder) => port.postMessage(await follow(order)));
}
