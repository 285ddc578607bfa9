import { performance } from 'node:perf_hooks';
import { createBacklog, type Job } from './backlog.ts';
import { createRequests, toResult } from './calls.ts';
import { isBusy, toStorageError } from './connection.ts';
import type { Reply } from './messages.ts';
import { unpackError } from './packed-error.ts';
import type { WritingThread } from './start-thread.ts';

/** Commits the jobs of several callers in one transaction. */
export interface GroupCommit {
  /** Adds a job and settles it when it is committed. Throws `unavailable` if too many jobs wait. */
  add(job: Job): void;
  /** Shortens the timeout of waiting jobs. Resolves when all jobs are settled. */
  drain(): Promise<void>;
}

const retryAfterMs = 5;
/** Maximum time that jobs gather for a commit, as a multiple of the duration of the last commit. */
const gatheredCommitsMax = 3;

/**
 * Runs one commit at a time. Jobs that arrive during a commit form the next one. If the thread is idle, jobs gather
 * for two turns of the event loop. A single job is sent at once if the last commit also had a single job.
 */
export function createGroupCommit(thread: WritingThread): GroupCommit {
  const toRequest = createRequests();
  const backlog = createBacklog();
  const gathering = createGathering(hasGathered, send);
  let underWay: readonly Job[] = [];
  let sentAtMs = 0;
  /**
   * Duration of the last commit in ms. It starts at infinity, so the jobs of the first commit always gather for two
   * turns.
   */
  let commitMs = Number.POSITIVE_INFINITY;
  let wasAlone = false;
  let onIdle: (() => void) | undefined;

  function hasGathered(): boolean {
    const { oldestAtMs } = backlog;
    return oldestAtMs !== null && performance.now() - oldestAtMs > gatheredCommitsMax * commitMs;
  }

  function send(): void {
    gathering.end();
    underWay = backlog.take();
    sentAtMs = performance.now();
    if (underWay.length === 0) onIdle?.();
    else thread.send(toRequest(underWay.map(({ task }) => task)), receive);
  }

  function receive(reply: Reply): void {
    commitMs = performance.now() - sentAtMs;
    wasAlone = underWay.length === 1;
    const lockedOut = settle(underWay, reply);
    underWay = [];
    backlog.putBack(lockedOut.jobs, lockedOut.error);
    if (backlog.heldUpBy !== null) setTimeout(send, retryAfterMs);
    else if (backlog.length === 1 && wasAlone) send();
    else if (backlog.length > 0) gathering.begin();
    else onIdle?.();
  }

  return {
    add(job) {
      backlog.add(job);
      if (underWay.length > 0 || backlog.heldUpBy !== null) return;
      const isAlone = backlog.length === 1 && wasAlone && !gathering.isUnderWay;
      if (isAlone || hasGathered()) send();
      else gathering.begin();
    },

    async drain() {
      backlog.hurry();
      if (underWay.length === 0 && backlog.length === 0) return;
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    },
  };
}

/** Lets jobs gather for two turns of the event loop, or until `hasGathered` returns true. */
function createGathering(hasGathered: () => boolean, onGathered: () => void) {
  let turn: NodeJS.Immediate | undefined;

  function waitTurns(count: number): void {
    turn = setImmediate(() => {
      if (count > 1 && !hasGathered()) waitTurns(count - 1);
      else onGathered();
    });
  }

  return {
    get isUnderWay() {
      return turn !== undefined;
    },
    begin(): void {
      if (turn === undefined) waitTurns(2);
    },
    end(): void {
      clearImmediate(turn);
      turn = undefined;
    },
  };
}

/**
 * Settles jobs with the reply of the thread. Returns the jobs that failed only because the store was locked, and the
 * lock error.
 */
function settle(jobs: readonly Job[], reply: Reply): { jobs: readonly Job[]; error: Error | null } {
  if ('notDone' in reply) {
    const error = unpackError(reply.notDone);
    if (isBusy(error)) return { jobs, error };
    for (const { reject } of jobs) reject(toStorageError(error));
    return { jobs: [], error: null };
  }
  const failed = new Map(reply.failures.map(({ job, error }) => [jobs[job], unpackError(error)]));
  const lockedOut = jobs.filter((job) => isBusy(failed.get(job)));
  for (const [index, job] of jobs.entries()) {
    const error = failed.get(job);
    if (error === undefined) job.resolve(toResult(job.task, reply.results[index]) as never);
    else if (!isBusy(error)) job.reject(toStorageError(error));
  }
  return { jobs: lockedOut, error: lockedOut[0] ? (failed.get(lockedOut[0]) ?? null) : null };
}
