import { type Clock, minuteMs } from '../clock.ts';
import type { Log } from '../observability/log.ts';
import type { Database } from '../storage/database.ts';
import { readStoreTime } from '../storage/store-facts.ts';

/** A clock leaps if it moves by more than this many ms against the monotonic clock. */
export const leapMsMin = minuteMs;
/** Time in ms for which the clocks must be steady after a leap. */
export const steadyMsMin = 10 * minuteMs;

export type ClockWatch = ReturnType<typeof createClockWatch>;

/**
 * Watches the clock of this machine and the clock of the store, because after a leap a job could take everything for old.
 * Both methods read the clocks first, and log one line if one has leapt. They fail if the store does not answer.
 */
export function createClockWatch(
  database: Pick<Database, 'read'>,
  clock: Clock,
  log: Log,
  elapsedMs = () => performance.now(),
) {
  const startedAtMs = elapsedMs();
  const machine = createLeapMeter(elapsedMs);
  const store = createLeapMeter(elapsedMs);

  async function isSteady(sinceMs: number, steadyMs: number): Promise<boolean> {
    const machineLeapMs = machine.note(clock());
    const storeLeapMs = store.note(await readStoreTime(database));
    const warning = 'a clock leapt: for 10 minutes, no job deletes, closes or disables by age';
    if (machineLeapMs !== 0 || storeLeapMs !== 0) log.warn({ machineLeapMs, storeLeapMs }, warning);
    const atMs = elapsedMs();
    const leaptAtMs = Math.max(machine.leaptAtMs(), store.leaptAtMs());
    return atMs - sinceMs >= steadyMsMin && atMs - leaptAtMs >= steadyMs;
  }

  return {
    /** Returns true if no clock leapt in the last 10 minutes, so that a job may close or disable by age. */
    mayClose: () => isSteady(Number.NEGATIVE_INFINITY, steadyMsMin),
    /**
     * Returns true if a job may delete by age: also the watch is at least 10 minutes old, and no clock leapt for `keptMs`,
     * so that a row with a wrong time is kept for that time too.
     */
    mayDelete: (keptMs = steadyMsMin) => isSteady(startedAtMs, Math.max(keptMs, steadyMsMin)),
  };
}

/** Measures a clock against the monotonic clock. A drift of up to `leapMsMin` in `steadyMsMin` is no leap. */
function createLeapMeter(elapsedMs: () => number) {
  let known: { readonly differenceMs: number; readonly atMs: number } | null = null;
  let leaptAtMs = Number.NEGATIVE_INFINITY;

  return {
    leaptAtMs: () => leaptAtMs,
    /** Notes the time of the clock. Returns by how many ms the clock has leapt since it was last noted, or 0. */
    note(nowMs: number): number {
      const atMs = elapsedMs();
      const movedMs = nowMs - atMs - (known?.differenceMs ?? nowMs - atMs);
      const isLeap = Math.abs(movedMs) > leapMsMin;
      if (isLeap) leaptAtMs = atMs;
      if (known === null || isLeap || atMs - known.atMs >= steadyMsMin)
        known = { differenceMs: nowMs - atMs, atMs };
      return isLeap ? Math.round(movedMs) : 0;
    },
  };
}
