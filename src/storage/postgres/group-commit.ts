import type { Parameters, Statement } from '../database.ts';
import { storeOverloaded } from '../store-unavailable.ts';
import { type Rows, sendBatch } from './batch.ts';
import { connectMsMax } from './client.ts';
import { isUndone } from './faults.ts';
import { waitingTasksMax } from './lent-connections.ts';
import type { Lend } from './pool.ts';
import { toCall } from './prepared.ts';

/** Maximum number of writes in one transaction. */
const groupWritesMax = 64;

type AnyStatement = Statement<Parameters, unknown>;

interface Write {
  readonly statement: AnyStatement;
  readonly parameters: Parameters;
  readonly sinceMs: number;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

/** Commits the writes of several callers in one transaction. Only for statements that wait for no row lock. */
export interface GroupCommit {
  /**
   * Returns the rows of a statement when they are durable. Throws `unavailable` if `waitingTasksMax` writes already
   * wait.
   */
  run(statement: AnyStatement, parameters: Parameters): Promise<Rows>;
  /** Resolves when all writes are settled. */
  drain(): Promise<void>;
}

/**
 * Runs one commit at a time. Writes that arrive during a commit form the next group. A single write does not wait for
 * others.
 */
export function createGroupCommit(lend: Lend): GroupCommit {
  let waiting: Write[] = [];
  let underWay: Promise<void> | null = null;

  async function commitWaiting(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await commit(waiting.splice(0, groupWritesMax));
    underWay = null;
  }

  /**
   * Commits writes in one transaction. If one write fails, all are rolled back, and each is repeated in its own
   * transaction.
   */
  async function commit(writes: readonly Write[]): Promise<void> {
    try {
      const calls = writes.map(({ statement, parameters }) => toCall(statement, parameters));
      const results = await lend((client) => sendBatch(client, calls));
      for (const [place, { resolve }] of writes.entries()) resolve(results[place] ?? []);
    } catch (error) {
      if (writes.length > 1 && isUndone(error)) await Promise.all(writes.map((write) => commit([write])));
      else fail(writes, error);
    }
  }

  /**
   * Rejects the writes of a failed commit. After a fault, also rejects queued writes that have waited longer than
   * `connectMsMax`. Otherwise they would wait for the next fault too.
   */
  function fail(writes: readonly Write[], error: unknown): void {
    for (const { reject } of writes) reject(error);
    if (isUndone(error)) return;
    const lastMs = performance.now() - connectMsMax;
    const late = waiting.filter(({ sinceMs }) => sinceMs < lastMs);
    waiting = waiting.filter(({ sinceMs }) => sinceMs >= lastMs);
    for (const { reject } of late) reject(error);
  }

  return {
    run(statement, parameters) {
      if (waiting.length >= waitingTasksMax) return Promise.reject(storeOverloaded());
      return new Promise((resolve, reject) => {
        waiting.push({ statement, parameters, sinceMs: performance.now(), resolve, reject });
        underWay ??= commitWaiting();
      });
    },
    async drain() {
      await underWay;
    },
  };
}
