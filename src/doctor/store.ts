import { describeForeignKeys } from '../accounts/api-key.ts';
import { hourMs, minuteMs, secondMs } from '../clock.ts';
import type { Environment } from '../config.ts';
import { foreignKeysMax, type Inspection } from '../storage/inspection.ts';
import { compareSchema } from '../storage/migrations/migrate.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { howToSetClock } from './machine.ts';

/** Checks the content of a store on any engine, by the clock of this machine. */
export function checkContent(
  { migrations, newestRowMs, foreignKeys }: Inspection,
  environment: Environment,
  nowMs: number,
): Finding[] {
  return [
    checkSchema(migrations),
    ...(newestRowMs === null ? [] : [checkNewestRow(newestRowMs, nowMs)]),
    ...(foreignKeys.length === 0 ? [] : [warnOfForeignKeys(foreignKeys, environment)]),
  ];
}

/**
 * Checks that the schema of a store fits this program. `migrations` are the names of the migrations that ran in the
 * store, oldest first.
 */
function checkSchema(migrations: readonly string[]): Finding {
  const last = migrations.at(-1) ?? '';
  switch (compareSchema(migrations)) {
    case 'newest':
      return ok('schema', `the newest, "${last}"`);
    case 'none':
      return ok('schema', 'there are no tables yet; the first start creates them');
    case 'older': {
      const todo = 'make a backup; the next start, or "animal-store migrate", updates the schema';
      return warning('schema', `older than this program: "${last}"`, todo);
    }
    case 'newer': {
      const todo = 'run the release that created it, or a later one; or restore a backup';
      return problem('schema', `newer than this program: it has "${last}"`, todo);
    }
  }
}

/** A key works only in its own environment. */
function warnOfForeignKeys(keyIds: readonly string[], environment: Environment): Finding {
  return warning(
    'keys',
    describeForeignKeys(keyIds, keyIds.length === foreignKeysMax, environment),
    'create new keys with "keys create", or set ENVIRONMENT to the environment of these keys',
  );
}

/**
 * Above this difference, expiries and rate limit windows become inexact, which is a warning. Above `differenceMsBad`,
 * the difference is a problem.
 */
const differenceMsMax = 2 * secondMs;
const differenceMsBad = minuteMs;

/** Checks that the newest row of the store is not dated in the future. */
function checkNewestRow(newestRowMs: number, nowMs: number): Finding {
  const aheadMs = newestRowMs - nowMs;
  if (aheadMs <= differenceMsMax)
    return ok('clock', `the newest row of the store was written ${formatSpan(Math.max(0, -aheadMs))} ago`);
  const why = 'the clock was set back, or was wrong at the time of the write';
  return (aheadMs > differenceMsBad ? problem : warning)(
    'clock',
    `the newest row of the store is dated ${formatSpan(aheadMs)} ahead: ${why}`,
    `${howToSetClock}; until then, rate limit windows and expiries may be late`,
  );
}

/** Compares the clock of a server with the clock of this machine. `whose` is the name of the server. */
export function compareClocks(whose: string, theirMs: number, ourMs: number): Finding {
  const differenceMs = theirMs - ourMs;
  const size = Math.abs(differenceMs);
  if (size <= differenceMsMax)
    return ok('clock', `the clock of ${whose} agrees with the clock of this machine`);
  const is = `the clock of ${whose} is ${formatSpan(size)} ${differenceMs > 0 ? 'ahead' : 'behind'}`;
  return (size > differenceMsBad ? problem : warning)('clock', is, `${howToSetClock}, on both machines`);
}

/** Returns a duration in its largest fitting unit: `3 s`, `5 min`, `2 h`, `40 days`. */
export function formatSpan(ms: number): string {
  if (ms < 2 * minuteMs) return `${Math.round(ms / secondMs)} s`;
  if (ms < 2 * hourMs) return `${Math.round(ms / minuteMs)} min`;
  if (ms < 48 * hourMs) return `${Math.round(ms / hourMs)} h`;
  return `${Math.round(ms / (24 * hourMs)).toLocaleString('en-US')} days`;
}
