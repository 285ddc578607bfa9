import type { Clock } from '../clock.ts';
import type { AppError } from '../errors.ts';
import type { Log } from './log.ts';
import { redactKeys } from './redact-keys.ts';
import type { CallWatcher, StoreWatcher } from './watch-calls.ts';

/** How often a fault that goes on is told again. */
export const repeatAfterMs = 10_000;
/** A store that fails and does what it is asked by turns is not well: this long nothing may have failed. */
export const calmMs = 1_000;

/**
 * Tells in the log when a store begins to fail, every ten seconds while it goes on, and when it is well again: a few
 * lines, however many requests are refused meanwhile.
 */
export interface StoreFaults extends StoreWatcher {
  /** What the store cannot do at the moment, a few words each; empty while it is well. */
  listNotes(): readonly string[];
}

/** `elapsedMs` tells times apart, from any beginning, and does not go back. */
export function createStoreFaults(
  log: Log,
  clock: Clock,
  elapsedMs: () => number = () => performance.now(),
): StoreFaults {
  const read = watchFaults('read', { log, clock, elapsedMs });
  const write = watchFaults('written', { log, clock, elapsedMs });
  return {
    read,
    write,
    listNotes: () => [read.note(), write.note()].filter((note) => note !== null),
  };
}

interface Fault {
  readonly since: string;
  readonly startedMs: number;
  lastMs: number;
  toldMs: number;
  failures: number;
  reason: string;
}

/** Watches one kind of calls: what the store could not be, as in `read`. */
function watchFaults(
  what: string,
  { log, clock, elapsedMs }: { log: Log; clock: Clock; elapsedMs: () => number },
): CallWatcher & { note(): string | null } {
  let fault: Fault | null = null;

  function begin(nowMs: number): Fault {
    const since = new Date(clock()).toISOString();
    return { since, startedMs: nowMs, lastMs: nowMs, toldMs: -Infinity, failures: 0, reason: '' };
  }

  return {
    fail(failure) {
      if (failure === null) return;
      const nowMs = elapsedMs();
      fault ??= begin(nowMs);
      fault.failures += 1;
      fault.lastMs = nowMs;
      fault.reason = findReason(failure);
      if (nowMs - fault.toldMs < repeatAfterMs) return;
      fault.toldMs = nowMs;
      const { since, failures, reason } = fault;
      log.error({ since, failures, reason }, `the store cannot be ${what}: ${reason}`);
    },

    succeed() {
      if (fault === null) return;
      const nowMs = elapsedMs();
      if (nowMs - fault.lastMs < calmMs) return;
      const { since, failures, startedMs } = fault;
      fault = null;
      log.info({ since, failures, ms: Math.round(nowMs - startedMs) }, `the store can be ${what} again`);
    },

    note: () => (fault === null ? null : `the store cannot be ${what} since ${fault.since}: ${fault.reason}`),
  };
}

/** A database's message may quote what a client sent. */
function findReason({ cause, message }: AppError): string {
  return redactKeys(cause instanceof Error && cause.message !== '' ? cause.message : message);
}
