import { describeForeignKeys, foreignKeysMax, keyEnvironmentOf } from '../accounts/api-key.ts';
import { selectForeignKeys, toForeignKeys } from '../accounts/key-rows.ts';
import { selectLastBackup } from '../audit/audit-log.ts';
import { type Clock, dayMs, hourMs, minuteMs, secondMs } from '../clock.ts';
import type { Config } from '../config.ts';
import { compileStatement, placeParameters } from '../storage/compile.ts';
import type { Database, Parameters, Statement, Value } from '../storage/database.ts';
import type { Engine } from '../storage/dialect.ts';
import { compareSchema, listRunMigrations } from '../storage/migrations/migrate.ts';
import { howToBegin } from '../storage/stored-migrations.ts';
import { reviewSecrets } from '../webhooks/review-secrets.ts';
import { createSecretBox } from '../webhooks/secret-box.ts';
import { type Finding, ok, problem, warning, warnUnless } from './finding.ts';
import { howToSetClock } from './machine.ts';

/**
 * Any use of the store soon writes a time to one of these tables: a command that adds accounts or keys, or a request, which
 * uses a key. `usage_windows` has the reset time of the day window, so the query subtracts one day.
 */
const newestRowSql = `
  select max(at_ms) as newest from (
    select max(created_at_ms) as at_ms from accounts
    union all select max(created_at_ms) from api_keys
    union all select max(last_used_at_ms) from api_keys
    union all select max(created_at_ms) from first_answers
    union all select max(day_ends_at_ms) - ${dayMs} from usage_windows
  ) as times`;

/** Runs a query and returns its rows. An integer may be a number. */
export type Query = (sql: string, values?: readonly Value[]) => Promise<readonly object[]>;

/** The settings with which the content of a store is checked. */
export type ContentSettings = Pick<Config, 'environment' | 'requireStore' | 'webhookSecretKeys'>;

/** Checks the content of a store. */
export async function checkContent(
  engine: Engine,
  query: Query,
  { environment, requireStore, webhookSecretKeys }: ContentSettings,
  clock: Clock,
): Promise<Finding[]> {
  const read: Database['read'] = async <P extends Parameters, R>(target: Statement<P, R>, parameters: P) => {
    const { sql, names } = compileStatement(target, engine, parameters);
    return (await query(sql, placeParameters(names, parameters))) as readonly R[];
  };
  const migrations = await listRunMigrations(query);
  const findings = [checkSchema(migrations, requireStore)];
  // The queries name tables and columns of the newest schema.
  if (compareSchema(migrations) !== 'newest') return findings;
  const [newest] = (await query(newestRowSql)).flatMap(Object.values);
  // A service may write rows until this one is read, so the clock is read afterwards.
  if (newest != null) findings.push(checkNewestRow(Number(newest), clock()));
  if (environment !== 'development')
    findings.push(checkBackup((await read(selectLastBackup, {}))[0]?.at_ms, clock()));
  const wanted = toForeignKeys(keyEnvironmentOf[environment], clock(), foreignKeysMax + 1);
  const foreignKeys = await read(selectForeignKeys, wanted);
  if (foreignKeys.length > 0) {
    const keyIds = foreignKeys.map(({ id }) => id);
    const todo = 'create new keys with "keys create", or set ENVIRONMENT to the environment of these keys';
    findings.push(warning('keys', describeForeignKeys(keyIds, environment), todo));
  }
  const { lostKey } = await reviewSecrets({ read }, createSecretBox(webhookSecretKeys));
  if (lostKey !== null) findings.push(problem('webhooks', lostKey.is, lostKey.todo));
  return findings;
}

/** A backup a day is made within this time, if it is late once. */
const backupMsMax = 2 * dayMs;

function checkBackup(atMs: unknown, nowMs: number): Finding {
  const todo = 'make a backup each day (docs/operations/backup-and-restore.md)';
  if (atMs == null) return warning('backup', 'the store knows of no backup', todo);
  const ageMs = Math.max(0, nowMs - Number(atMs));
  return warnUnless(
    ageMs <= backupMsMax,
    'backup',
    `the last backup was made ${formatSpan(ageMs)} ago`,
    todo,
  );
}

function checkSchema(migrations: readonly string[], requireStore: boolean): Finding {
  const last = migrations.at(-1) ?? '';
  switch (compareSchema(migrations)) {
    case 'newest':
      return ok('schema', `the newest, "${last}"`);
    case 'none':
      return requireStore
        ? problem('schema', 'there are no tables, and REQUIRE_STORE is true', howToBegin)
        : ok('schema', 'there are no tables yet; the first start or "animal-store migrate" creates them');
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

/** Up to this difference, a clock is right. Beyond it, expiries and rate limit windows become inexact: a warning. */
const differenceMsMax = 2 * secondMs;
/** Beyond this difference, a clock is a problem. */
const differenceMsBad = minuteMs;

function judgeClock(differenceMs: number, agrees: string, differs: string, todo: string): Finding {
  if (differenceMs <= differenceMsMax) return ok('clock', agrees);
  return (differenceMs > differenceMsBad ? problem : warning)('clock', differs, todo);
}

/** Checks that the newest row of the store is not dated in the future. */
function checkNewestRow(newestRowMs: number, nowMs: number): Finding {
  const aheadMs = newestRowMs - nowMs;
  const agrees = `the newest row of the store was written ${formatSpan(Math.max(0, -aheadMs))} ago`;
  const why = 'the clock was set back, or was wrong at the time of the write';
  const differs = `the newest row of the store is dated ${formatSpan(aheadMs)} ahead: ${why}`;
  const todo = `${howToSetClock}; until then, rate limit windows and expiries may be late`;
  return judgeClock(aheadMs, agrees, differs, todo);
}

/** Compares the clock of a server, in Unix milliseconds, with that of this machine halfway between request and response. */
export async function compareClocks(whose: string, read: () => Promise<number>): Promise<Finding> {
  const sentMs = Date.now();
  const differenceMs = (await read()) - (sentMs + Date.now()) / 2;
  const size = Math.abs(differenceMs);
  const agrees = `the clock of ${whose} agrees with the clock of this machine`;
  const differs = `the clock of ${whose} is ${formatSpan(size)} ${differenceMs > 0 ? 'ahead' : 'behind'}`;
  return judgeClock(size, agrees, differs, `${howToSetClock}, on both machines`);
}

/** Returns a duration in its largest fitting unit: `3 s`, `5 min`, `2 h`, `40 days`. */
export function formatSpan(ms: number): string {
  if (ms < 2 * minuteMs) return `${Math.round(ms / secondMs)} s`;
  if (ms < 2 * hourMs) return `${Math.round(ms / minuteMs)} min`;
  if (ms < 2 * dayMs) return `${Math.round(ms / hourMs)} h`;
  return `${Math.round(ms / dayMs).toLocaleString('en-US')} days`;
}
