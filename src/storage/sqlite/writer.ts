import { performance } from 'node:perf_hooks';
import type { NamedWork, Parameters, Statement, Step, Work } from '../database.ts';
import { storeOverloaded } from '../store-unavailable.ts';
import { isBusy, type SqliteConnection, toStorageError } from './connection.ts';

/** What is done in a transaction: a body, or one statement. */
type Task = (() => Work<unknown>) | Step;

interface Job {
  readonly task: Task;
  readonly queuedAtMs: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs works in transactions that works which come close together share. */
export interface SqliteWriter {
  transact<I, T>(work: NamedWork<I, T>, input: I): Promise<T>;
  run<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]>;
  /** Waits until everything that was handed over is settled; what is not by then waits `drainWaitMsMax` at most. */
  drain(): Promise<void>;
}

/** How long a work waits for another process that is writing before it fails with `unavailable`. */
export const writeWaitMsMax = 10_000;
/** The same once the store is to be closed. */
export const drainWaitMsMax = 500;
/** How many works wait at once; beyond it a new one fails at once with `unavailable`. */
export const waitingWorksMax = 10_000;
const retryAfterMs = 5;
/** How long a work waits for others to share its commit, in times of the last one, so that a slower disk is asked less often. */
export const gatheredCommitsMax = 3;

/**
 * A commit waits for the disk (about 200 us), so works that come close together share one: those of two turns of the event
 * loop, or fewer where turns are long. The first to come, or the first turn to end, once the oldest has waited for
 * `gatheredCommitsMax` has the commit made at once. Where the last one came alone, the next is not made to wait: its commit
 * is made where it comes, within the call, and those behind it in the same turn share one with all that come in the next.
 * Each work is answered after the commit that holds it, and `beforeWait` is called before each commit. Where one throws, the
 * batch is undone and each is begun again by itself.
 */
export function createSqliteWriter(connection: SqliteConnection, beforeWait = () => {}): SqliteWriter {
  const { raw } = connection;
  const begin = raw.prepare('begin immediate');
  const commit = raw.prepare('commit');
  let waiting: Job[] = [];
  /** How long the last commit took with its works, in milliseconds; two turns are waited for the first. */
  let commitMs = Number.POSITIVE_INFINITY;
  /** Who had waited longest when a turn ended. */
  let oldest: Job | undefined;
  /** Whether those who wait do so for another process that writes. */
  let isHeldUp = false;
  /** How many have come since a turn ended with all of them settled. */
  let came = 0;
  /** Whether it was one, the last time that a turn ended so. */
  let wasAlone = false;
  let onIdle: (() => void)[] = [];
  let waitMsMax = writeWaitMsMax;

  function take(job: Job): void {
    waiting.push(job);
    came += 1;
    if (came === 1) {
      setImmediate(endTurn);
      if (wasAlone) settleBatch();
    } else if (!isHeldUp && hasGathered(job.queuedAtMs)) settleBatch();
  }

  function hasGathered(nowMs: number): boolean {
    return waiting[0] !== undefined && nowMs - waiting[0].queuedAtMs > gatheredCommitsMax * commitMs;
  }

  function endTurn(): void {
    const [first] = waiting;
    if (first === undefined) rest();
    else if (first === oldest || hasGathered(performance.now())) settleWaiting();
    else {
      oldest = first;
      setImmediate(endTurn);
    }
  }

  function settleWaiting(): void {
    settleBatch();
    if (waiting.length === 0) rest();
    else setTimeout(settleWaiting, retryAfterMs);
  }

  function settleBatch(): void {
    beforeWait();
    const batch = waiting;
    waiting = [];
    settle(batch);
    isHeldUp = waiting.length > 0;
    if (isHeldUp) return;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  function rest(): void {
    wasAlone = came === 1;
    came = 0;
  }

  function settle(batch: readonly Job[]): void {
    const beganAtMs = performance.now();
    try {
      connection.requireInPlace();
      begin.get();
      const results = doTasks(connection, batch);
      commit.get();
      commitMs = performance.now() - beganAtMs;
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
    } catch (error) {
      undo();
      if (isBusy(error)) postpone(batch, error);
      else if (batch.length > 1) for (const job of batch) settle([job]);
      else for (const { reject } of batch) reject(toStorageError(error));
    }
  }

  function undo(): void {
    try {
      // SQLite ends some failed transactions by itself; rolling back again would be an error of its own.
      if (raw.isOpen && raw.isTransaction) raw.exec('rollback');
    } catch {
      // As `begin` fails from then on, each work is refused and this tried anew, until it is undone.
    }
  }

  function postpone(batch: readonly Job[], error: unknown): void {
    const expired = performance.now() - waitMsMax;
    for (const job of batch)
      if (job.queuedAtMs > expired) waiting.push(job);
      else job.reject(toStorageError(error));
  }

  function queue<T>(task: Task): Promise<T> {
    if (waiting.length >= waitingWorksMax) return Promise.reject(storeOverloaded());
    return new Promise<T>((resolve, reject) =>
      take({ task, queuedAtMs: performance.now(), resolve, reject }),
    );
  }

  return {
    transact: ({ body }, input) => queue(() => body(input)),
    run: (statement, parameters) => queue({ statement, parameters } as unknown as Step),
    drain() {
      waitMsMax = drainWaitMsMax;
      if (waiting.length === 0) return Promise.resolve();
      return new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

/** Does what a batch wants in its order, the same statement of several that follow each other together. */
function doTasks(connection: SqliteConnection, batch: readonly Job[]): readonly unknown[] {
  const results: unknown[] = [];
  for (let job = batch[0]; job !== undefined; job = batch[results.length]) {
    const { task } = job;
    if (typeof task === 'function') results.push(runWork(connection, task()));
    else results.push(...connection.queryEach(task.statement, listParameters(batch, results.length, task)));
  }
  return results;
}

/** The parameters of those from a place on that run a step's statement, up to the first that wants something else. */
function listParameters(batch: readonly Job[], from: number, { statement }: Step): Parameters[] {
  const each: Parameters[] = [];
  for (let at = from; at < batch.length; at += 1) {
    const task = batch[at]?.task;
    if (typeof task !== 'object' || task.statement !== statement) break;
    each.push(task.parameters);
  }
  return each;
}

function runWork<T>(connection: SqliteConnection, work: Work<T>): T {
  let next = work.next([]);
  while (!next.done) next = work.next(connection.query(next.value.statement, next.value.parameters));
  return next.value;
}
