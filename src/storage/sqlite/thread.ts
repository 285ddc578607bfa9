/**
 * The writing thread of a store. Its connection is the only one in the process that writes, commits and makes
 * checkpoints.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Transaction } from '../database.ts';
import { createRunBatch, type Job, type Outcome, type RunBatch } from './batch.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy } from './connection.ts';
import { type PackedError, packError } from './packed-error.ts';

/**
 * The answer of the writing thread to the jobs of one commit. Before any job, the thread sends one answer when the store
 * is open. `notDone` means that nothing was done.
 */
export type WritingAnswer =
  | { readonly notDone: PackedError }
  | { readonly outcomes: readonly PackedOutcome[] };

/** The outcome of a job, as it is sent to the main thread. */
export type PackedOutcome = { readonly result: unknown } | { readonly error: PackedError };

/** Serves writes in this worker thread. The thread's entry calls it once with the list of transactions. */
export async function serveWrites(transactions: readonly Transaction<never, unknown>[]): Promise<void> {
  if (parentPort === null) throw new Error('writes are served only in a worker thread');
  const port = parentPort;
  const byName = new Map(transactions.map((transaction) => [transaction.name, transaction]));
  try {
    const connection = await repeatWhileBusy(() => openConnection(workerData.path, 0), lockWaitMsMax);
    // A savepoint keeps the original pages. Without `temp_store`, SQLite would write them to a temporary file beyond
    // 64 KiB.
    connection.raw.exec('pragma temp_store = memory');
    listen(port, createRunBatch(connection, byName), connection.close);
    port.postMessage({ outcomes: [] } satisfies WritingAnswer);
  } catch (error) {
    port.postMessage({ notDone: packError(error) } satisfies WritingAnswer);
    port.close();
  }
}

/** A null message instead of jobs ends the thread. */
function listen(port: MessagePort, run: RunBatch, close: () => void): void {
  port.on('message', (jobs: readonly Job[] | null) => {
    if (jobs !== null) {
      port.postMessage(answer(run, jobs));
      return;
    }
    close();
    port.close();
  });
}

function answer(run: RunBatch, jobs: readonly Job[]): WritingAnswer {
  try {
    return { outcomes: run(jobs).map(pack) };
  } catch (error) {
    return { notDone: packError(error) };
  }
}

function pack(outcome: Outcome): PackedOutcome {
  return 'error' in outcome ? { error: packError(outcome.error) } : outcome;
}
