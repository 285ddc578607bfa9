import type { Parameters, Statement } from '../database.ts';
import { storeOverloaded } from '../store-unavailable.ts';
import { type Rows, sendBatch } from './batch.ts';
import { connectMsMax } from './client.ts';
import { isUndone } from './faults.ts';
import { type PostgresPool, waitingTasksMax } from './pool.ts';
import { type Call, toCall, toRowsCall } from './prepared.ts';

/** Maximum number of writes in one transaction. */
const groupWritesMax = 64;
/** One insert adds at most 2 ** powerMax rows. */
const powerMax = 6;

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
export function createGroupCommit(lend: PostgresPool['lend']): GroupCommit {
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
      const parts = writes.length === 1 ? writes.map(toPart) : toParts(writes);
      const results = await lend((client) =>
        sendBatch(
          client,
          parts.map(({ call }) => call),
        ),
      );
      for (const [place, { settle }] of parts.entries()) settle(results[place] ?? []);
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

interface Part {
  readonly call: Call;
  readonly settle: (rows: Rows) => void;
}

function toPart({ statement, parameters, resolve }: Write): Part {
  return { call: toCall(statement, parameters), settle: resolve };
}

/**
 * Inserts rows of the same statement together, in powers of two. So at most `powerMax + 1` texts per statement must
 * be prepared.
 */
function toParts(writes: readonly Write[]): Part[] {
  const adding = Map.groupBy(writes, ({ statement }) => (statement.buildRows ? statement : null));
  const single = (adding.get(null) ?? []).map(toPart);
  adding.delete(null);
  return [...single, ...[...adding.values()].flatMap(toRowParts)];
}

function toRowParts(writes: readonly Write[]): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < writes.length; ) {
    const power = Math.min(powerMax, 31 - Math.clz32(writes.length - at));
    parts.push(toRowPart(writes.slice(at, at + 2 ** power), power));
    at += 2 ** power;
  }
  return parts;
}

function toRowPart(writes: readonly Write[], power: number): Part {
  const [first] = writes;
  if (first === undefined) throw new RangeError('there are no rows to add');
  const rows = writes.map(({ parameters }) => parameters);
  return {
    call: toRowsCall(first.statement, rows, power),
    settle(added) {
      for (const [place, { resolve }] of writes.entries()) resolve(added.slice(place, place + 1));
    },
  };
}
