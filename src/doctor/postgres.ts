import { keyEnvironmentOf } from '../accounts/api-key.ts';
import type { Clock } from '../clock.ts';
import type { Environment } from '../config.ts';
import { reasonOf } from '../errors.ts';
import { describeServer } from '../storage/postgres/client.ts';
import { inspectPostgres, type PostgresInspection } from '../storage/postgres/inspection.ts';
import { connectionsMax } from '../storage/postgres/pool.ts';
import { checkNewestRow, compareClocks } from './clock.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkKeys } from './keys.ts';
import { checkSchema } from './schema.ts';

/** The oldest major version of PostgreSQL with which the service is tested. */
const majorMin = 15;

/** Checks a PostgreSQL server and the store on it. */
export async function checkPostgres(url: string, environment: Environment, clock: Clock): Promise<Finding[]> {
  const server = `PostgreSQL ${describeServer(url)}`;
  try {
    const report = await inspectPostgres(url, keyEnvironmentOf[environment]);
    return [
      checkServer(server, report),
      checkSchema(report.migrations),
      checkRights(report),
      checkDurability(report),
      checkConnections(report),
      compareClocks('PostgreSQL', report.clockMs, report.askedAtMs),
      ...checkNewestRow(report.newestRowMs, clock()),
      ...checkKeys(report.foreignKeys, environment),
    ];
  } catch (error) {
    const todo = 'check that the server runs, that DATABASE_URL names it, and that its user may connect';
    return [problem('store', `${server} cannot be used: ${reasonOf(error)}`, todo)];
  }
}

function checkServer(server: string, { version, encoding }: PostgresInspection): Finding {
  const is = `${server} answers, version ${version}`;
  if (encoding !== 'UTF8')
    return problem(
      'store',
      `${is}; its encoding is ${encoding}`,
      "create the database with the encoding 'UTF8'",
    );
  if (Number.parseInt(version, 10) < majorMin)
    return warning('store', is, `move to PostgreSQL ${majorMin} or newer: older ones are not tested`);
  return ok('store', is);
}

function checkRights({ isReadOnly, mayCreate, mayWrite, migrations }: PostgresInspection): Finding {
  if (isReadOnly)
    return problem('writing', 'the server is read-only', 'name the primary in DATABASE_URL, not a standby');
  if (migrations.length === 0 && !mayCreate)
    return problem(
      'writing',
      'this user may not create tables',
      'grant create on schema public to this user',
    );
  if (!mayWrite)
    return problem(
      'writing',
      'this user may not write to every table, or may not use the sequences',
      'grant this user all privileges on all tables and sequences in schema public',
    );
  return ok('writing', 'the database can be written');
}

/** Checks that a commit survives a power failure. */
function checkDurability({ unsafeSettings }: PostgresInspection): Finding {
  if (unsafeSettings.length === 0) return ok('durability', 'a commit is on disk before it is confirmed');
  const names = unsafeSettings.join(', ');
  return problem(
    'durability',
    `off: ${names}; a crash of the server can lose writes that the service answered`,
    `set ${names} to on, for this database, this user and the server`,
  );
}

/** Number of connections of an instance: its pool, and one connection that listens for changed keys. */
const perInstance = connectionsMax + 1;

/** Checks that the server has enough free connections for one more instance. */
function checkConnections({ connectionsMax: most, connectionsOpen: open }: PostgresInspection): Finding {
  const is = `${open} of ${most} connections are open; an instance takes up to ${perInstance}`;
  if (most - open >= perInstance) return ok('connections', is);
  return warning(
    'connections',
    is,
    'raise max_connections, or see in pg_stat_activity which clients keep connections open',
  );
}
