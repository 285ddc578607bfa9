import type { Clock } from '../clock.ts';
import type { AppError } from '../errors.ts';
import type { Log } from './log.ts';
import { redactKeys } from './safe-text.ts';
import type { CallWatcher, StoreWatcher } from './store-calls.ts';

/** Time in ms after which an ongoing fault is logged again. */
export const repeatAfterMs = 10_000;
/**
 * Time in ms without a failed call after which a fault is over. Alternating failures and successes count as one fault.
 */
export const calmMs = 1_000;

/**
 * Logs the start of a store fault, logs it again every 10 s, and logs its end. So the number of log lines does not
 * depend on the number of failed calls.
 */
export interface StoreFaults extends StoreWatcher {
  /** Returns one short note if reads fail and one if writes fail. Empty if the store works. */
  listNotes(): readonly string[];
}

/** `elapsedMs` is a monotonic clock. */
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
  loggedMs: number;
  failures: number;
  reason: string;
}

/** Watches either reads or writes. `what` completes the message "the store cannot be …". */
function watchFaults(
  what: string,
  { log, clock, elapsedMs }: { log: Log; clock: Clock; elapsedMs: () => number },
): CallWatcher & { note(): string | null } {
  let fault: Fault | null = null;

  function begin(nowMs: number): Fault {
    const since = new Date(clock()).toISOString();
    return { since, startedMs: nowMs, lastMs: nowMs, loggedMs: -Infinity, failures: 0, reason: '' };
  }

  return {
    fail(failure) {
      if (failure === null) return;
      const nowMs = elapsedMs();
      fault ??= begin(nowMs);
      fault.failures += 1;
      fault.lastMs = nowMs;
      fault.reason = findReason(failure);
      if (nowMs - fault.loggedMs < repeatAfterMs) return;
      fault.loggedMs = nowMs;
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

/** Redacts keys, because a database may quote text from a client. */
function findReason({ cause, message }: AppError): string {
  return redactKeys(cause instanceof Error && cause.message !== '' ? cause.message : message);
}
