import { hourMs, minuteMs, secondMs } from '../clock.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** The plausible years. A clock with another year was never set. */
const firstYear = 2026;
const lastYear = 2100;

/**
 * Above this difference, expiries and rate limit windows become inexact, which is a warning. Above `differenceMsBad`,
 * the difference is a problem.
 */
const differenceMsMax = 2 * secondMs;
const differenceMsBad = minuteMs;

const howToSet = 'set the clock by NTP: timedatectl set-ntp true';

/** Checks that the clock of this machine shows a plausible time. */
export function checkClock(nowMs: number): Finding {
  const now = new Date(nowMs);
  const is = `this machine shows ${now.toISOString().slice(0, 19)}Z`;
  const year = now.getUTCFullYear();
  return year < firstYear || year > lastYear
    ? problem('clock', `${is}, which is impossible`, howToSet)
    : ok('clock', is);
}

/** Compares the clock of a server with the clock of this machine. `whose` is the name of the server. */
export function compareClocks(whose: string, theirMs: number, ourMs: number): Finding {
  const differenceMs = theirMs - ourMs;
  const size = Math.abs(differenceMs);
  const is =
    size <= differenceMsMax
      ? `the clock of ${whose} agrees with the clock of this machine`
      : `the clock of ${whose} is ${formatSpan(size)} ${differenceMs > 0 ? 'ahead' : 'behind'}`;
  if (size <= differenceMsMax) return ok('clock', is);
  return (size > differenceMsBad ? problem : warning)('clock', is, `${howToSet}, on both machines`);
}

/** Checks that the newest row of the store is not dated in the future, by the clock of this machine. */
export function checkNewestRow(newestRowMs: number | null, nowMs: number): Finding[] {
  if (newestRowMs === null) return [];
  const aheadMs = newestRowMs - nowMs;
  if (aheadMs <= differenceMsMax)
    return [ok('clock', `the newest row of the store was written ${formatSpan(Math.max(0, -aheadMs))} ago`)];
  const is = `the newest row of the store is dated ${formatSpan(aheadMs)} ahead: the clock was set back, or was wrong at the time of the write`;
  return [
    (aheadMs > differenceMsBad ? problem : warning)(
      'clock',
      is,
      `${howToSet}; until then, rate limit windows and expiries may be late`,
    ),
  ];
}

/** Returns a duration in its largest fitting unit: `3 s`, `5 min`, `2 h`, `40 days`. */
export function formatSpan(ms: number): string {
  if (ms < 2 * minuteMs) return `${Math.round(ms / secondMs)} s`;
  if (ms < 2 * hourMs) return `${Math.round(ms / minuteMs)} min`;
  if (ms < 48 * hourMs) return `${Math.round(ms / hourMs)} h`;
  return `${Math.round(ms / (24 * hourMs)).toLocaleString('en-US')} days`;
}
