import { performance } from 'node:perf_hooks';
import { placeParameters } from '../compile.ts';
import type { NamedWork, Parameters, Statement } from '../database.ts';
import { storeOverloaded, storeUnavailable } from '../store-unavailable.ts';
import { createRequests, type Task, toResult } from './calls.ts';
import { isBusy, toStorageError } from './connection.ts';
import type { Reply } from './messages.ts';
import { unpackError } from './packed-error.ts';
import { compileForSqlite } from './query.ts';
import type { WritingThread } from './start-thread.ts';

interface Job {
  readonly task: Task;
  readonly queuedAtMs: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Writes to a store by its writing thread. */
export interface SqliteWriter {
  transact<I, T>(work: NamedWork<I, T>, input: I): Promise<T>;
  run<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]>;
  /** Ends the thread once what was handed over is settled. What comes later fails with `unavailable`. */
  close(): Promise<void>;
}

/** How long a job waits to begin before it is withdrawn and fails with `unavailable`. */
export const writeWaitMsMax = 10_000;
/** The same once the store is to be closed. */
export const drainWaitMsMax = 500;
/** How many jobs wait at once; beyond it a new one fails at once with `unavailable`. */
export const waitingWorksMax = 10_000;
const retryAfterMs = 5;
/** How long jobs gather for a commit, in times of the last one. */
export const gatheredCommitsMax = 3;

/**
 * Group commit: one commit is under way at a time, and the jobs that come meanwhile are the next one. If the thread is
 * idle, jobs gather for two turns of the event loop; a job that comes alone after another one is sent at once.
 */
export function createSqliteWriter(thread: WritingThread): SqliteWriter {
  const toRequest = createRequests();
  /** In the order in which they came. */
  let waiting: Job[] = [];
  let underWay: readonly Job[] = [];
  let sentAtMs = 0;
  /** How long the last commit took; for the first, jobs gather for two turns in any case. */
  let commitMs = Number.POSITIVE_INFINITY;
  let gatheredTurns = 0;
  let isGathering = false;
  let wasAlone = false;
  /** The error of the lock that another process has; null if none had it the last time. */
  let heldUpBy: Error | null = null;
  let waitMsMax = writeWaitMsMax;
  let expiry: NodeJS.Timeout | undefined;
  let onIdle: (() => void) | undefined;
  let isClosed = false;

  function queue<T>(task: Task): Promise<T> {
    if (isClosed) return Promise.reject(storeUnavailable(new Error('the database is closed')));
    if (waiting.length >= waitingWorksMax) return Promise.reject(storeOverloaded());
    return new Promise<T>((resolve, reject) => {
      const job = { task, queuedAtMs: performance.now(), resolve, reject };
      waiting.push(job);
      expiry ??= setTimeout(withdraw, waitMsMax).unref();
      if (underWay.length > 0 || heldUpBy !== null) return;
      if (waiting.length === 1 && wasAlone && !isGathering) send();
      else if (hasGathered(job.queuedAtMs)) send();
      else gather();
    });
  }

  function gather(): void {
    if (isGathering) return;
    isGathering = true;
    gatheredTurns = 0;
    setImmediate(endTurn);
  }

  function endTurn(): void {
    gatheredTurns += 1;
    isGathering = underWay.length === 0 && waiting.length > 0;
    if (!isGathering) return;
    if (gatheredTurns < 2 && !hasGathered(performance.now())) setImmediate(endTurn);
    else {
      isGathering = false;
      send();
    }
  }

  function hasGathered(nowMs: number): boolean {
    return waiting[0] !== undefined && nowMs - waiting[0].queuedAtMs > gatheredCommitsMax * commitMs;
  }

  /** While another process has the lock, the first job asks for it alone. */
  function send(): void {
    underWay = waiting.splice(0, heldUpBy === null ? waiting.length : 1);
    if (underWay.length === 0) {
      heldUpBy = null;
      onIdle?.();
      return;
    }
    sentAtMs = performance.now();
    thread.send(toRequest(underWay.map(({ task }) => task)), receive);
  }

  function receive(reply: Reply): void {
    commitMs = performance.now() - sentAtMs;
    const jobs = underWay;
    underWay = [];
    heldUpBy = null;
    if ('notDone' in reply) postpone(jobs, unpackError(reply.notDone));
    else settle(jobs, reply);
    wasAlone = jobs.length === 1;
    if (heldUpBy !== null) setTimeout(send, retryAfterMs);
    else if (waiting.length === 1 && wasAlone) send();
    else if (waiting.length > 0) gather();
    else onIdle?.();
  }

  function settle(jobs: readonly Job[], { results, failures }: Exclude<Reply, { notDone: unknown }>): void {
    const failed = new Map(failures.map(({ job, error }) => [jobs[job], unpackError(error)]));
    for (const [index, job] of jobs.entries()) {
      const error = failed.get(job);
      if (error === undefined) job.resolve(toResult(job.task, results[index]) as never);
      else if (!isBusy(error)) job.reject(toStorageError(error));
    }
    for (const [job, error] of failed) if (job !== undefined && isBusy(error)) postpone([job], error);
  }

  /** Has jobs wait on, ahead of those that came later, if all that they lack is a lock. */
  function postpone(jobs: readonly Job[], error: Error): void {
    if (isBusy(error)) {
      heldUpBy = error;
      waiting = [...jobs, ...waiting];
      withdraw();
    } else for (const { reject } of jobs) reject(toStorageError(error));
  }

  /** Withdraws the jobs that have waited too long, and comes again when the next one will have. */
  function withdraw(): void {
    clearTimeout(expiry);
    const lastAtMs = performance.now() - waitMsMax;
    const late = waiting.findIndex(({ queuedAtMs }) => queuedAtMs > lastAtMs);
    const withdrawn = waiting.splice(0, late < 0 ? waiting.length : late);
    const reason = heldUpBy ?? new Error('the commit under way still waits for the disk');
    for (const { reject } of withdrawn) reject(storeUnavailable(reason));
    const [first] = waiting;
    expiry = first && setTimeout(withdraw, Math.ceil(first.queuedAtMs - lastAtMs)).unref();
  }

  return {
    transact: (work, input) => queue({ work, input } as Task),
    run(target, parameters) {
      const statement = compileForSqlite(target);
      return queue({ statement, values: placeParameters(statement.names, parameters) });
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      waitMsMax = drainWaitMsMax;
      withdraw();
      if (underWay.length > 0 || waiting.length > 0)
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      await thread.close();
    },
  };
}
