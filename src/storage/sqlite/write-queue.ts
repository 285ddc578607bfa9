import { performance } from 'node:perf_hooks';
import { AppError } from '../../errors.ts';
import type { ConnectionCounts } from '../database.ts';
import { storeOverloaded, storeUnavailable } from '../store-errors.ts';
import type { Write, WriteResult } from './batch.ts';
import { isBusy, toStorageError } from './connection.ts';
import { unpackError } from './packed-error.ts';
import type { Writer } from './writer.ts';

/** Time in ms after which a write that has not begun fails with `unavailable`. */
export const writeWaitMsMax = 10_000;
const closingWaitMsMax = 500;
/** Maximum number of waiting writes. One more write fails at once with `unavailable`. */
export const waitingJobsMax = 10_000;
const watchEveryMs = 100;
/** Time in ms until the next attempt while another process has the lock. */
const retryAfterMs = 5;

interface Waiting {
  readonly write: Write;
  readonly sinceMs: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates the queue of writes for a writer. One commit runs at a time, and the next one takes all writes that came
 * during it (group commit). While another process has the lock, the writes wait and are tried again.
 */
export function createWriteQueue(writer: Writer) {
  let waiting: Waiting[] = [];
  let running: Promise<void> | null = null;
  let isClosed = false;
  let reason: unknown = new Error('the running commit still waits for the disk');

  function withdrawLate(): void {
    const lastAtMs = performance.now() - (isClosed ? closingWaitMsMax : writeWaitMsMax);
    const inTime = waiting.findIndex(({ sinceMs }) => sinceMs > lastAtMs);
    rejectAll(waiting.splice(0, inTime < 0 ? waiting.length : inTime), reason);
  }

  async function commitAll(): Promise<void> {
    const watch = setInterval(withdrawLate, watchEveryMs).unref();
    // The writes of one turn of the event loop share a commit.
    await new Promise(setImmediate);
    while (waiting.length > 0) await commit(waiting.splice(0));
    clearInterval(watch);
    running = null;
  }

  async function commit(writes: readonly Waiting[]): Promise<void> {
    try {
      settle(writes, await writer.run(writes.map(({ write }) => write)));
    } catch (error) {
      if (!isBusy(error)) return rejectAll(writes, error);
      reason = error;
      waiting = [...writes, ...waiting];
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
    }
  }

  return {
    /** Resolves to the result of a write when it is durable. Rejects as `waitingJobsMax` and `writeWaitMsMax` say. */
    add: <T>(write: Write) =>
      new Promise<T>((resolve, reject) => {
        if (isClosed) throw storeUnavailable(new Error('the database is closed'));
        if (waiting.length >= waitingJobsMax) throw storeOverloaded();
        waiting.push({ write, sinceMs: performance.now(), resolve, reject });
        running ??= commitAll();
      }),

    /** Counts the connection that writes, and the one that reads, which never waits. */
    count(): ConnectionCounts {
      const busy = running === null ? 0 : 1;
      return { busy, idle: 2 - busy, waiting: waiting.length };
    },

    /** Closes the store when all earlier writes are settled. Later writes fail with `unavailable`. */
    async close(): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      await running;
      await writer.close();
    },
  };
}

function rejectAll(writes: readonly Waiting[], error: unknown): void {
  const fault = error instanceof AppError ? error : storeUnavailable(error);
  for (const { reject } of writes) reject(fault);
}

function settle(writes: readonly Waiting[], results: readonly WriteResult[]): void {
  for (const [place, { resolve, reject }] of writes.entries()) {
    const outcome = results[place] as WriteResult;
    if ('error' in outcome) reject(toStorageError(unpackError(outcome.error)));
    else resolve(outcome.result as never);
  }
}
