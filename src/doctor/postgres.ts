import { keyEnvironmentOf } from '../accounts/api-key.ts';
import type { Clock } from '../clock.ts';
import type { Environment } from '../config.ts';
import { describeServer } from '../storage/postgres/client.ts';
import { inspectPostgres, type PostgresInspection } from '../storage/postgres/inspection.ts';
import { connectionsMax } from '../storage/postgres/pool.ts';
import { checkNewestRow, compareClocks } from './clock.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';
import { checkKeys } from './keys.ts';
import { checkSchema } from './schema.ts';

/** The oldest release that the service is tested on. */
const majorMin = 15;

/** Checks the server of a store, and the store on it. */
export async function checkPostgres(url: string, environment: Environment, clock: Clock): Promise<Finding[]> {
  const server = `PostgreSQL ${describeServer(url)}`;
  try {
    const told = await inspectPostgres(url, keyEnvironmentOf[environment]);
    return [
      checkServer(server, told),
      checkSchema(told.migrations),
      checkRights(told),
      checkConnections(told),
      compareClocks('PostgreSQL', told.clockMs, told.askedAtMs),
      ...checkNewestRow(told.newestRowMs, clock()),
      ...checkKeys(told.foreignKeys, environment),
    ];
  } catch (error) {
    const todo = 'see that the server runs, that DATABASE_URL names it, and that its user may connect';
    return [problem('store', `${server} cannot be used: ${reasonOf(error)}`, todo)];
  }
}

function checkServer(server: string, { version, encoding }: PostgresInspection): Finding {
  const is = `${server} answers, version ${version}`;
  if (encoding !== 'UTF8')
    return problem('store', `${is}; its encoding is ${encoding}`, "make the database with encoding 'UTF8'");
  if (Number.parseInt(version, 10) < majorMin)
    return warning('store', is, `move to PostgreSQL ${majorMin} or newer: older ones are not tested`);
  return ok('store', is);
}

function checkRights({ isReadOnly, mayCreate, mayWrite, migrations }: PostgresInspection): Finding {
  if (isReadOnly)
    return problem(
      'writing',
      'the server takes no writes',
      'name the primary in DATABASE_URL, not a standby',
    );
  if (migrations.length === 0 && !mayCreate)
    return problem('writing', 'this user may not make tables', 'grant create on schema public to it');
  if (!mayWrite)
    return problem(
      'writing',
      'this user may not write to all tables, or not number new animals',
      'grant it all on all tables and on all sequences in schema public',
    );
  return ok('writing', 'the database can be written');
}

/** Those of an instance's pool, and the one by which it is told of changed keys. */
const perInstance = connectionsMax + 1;

/** Whether one more instance finds the connections that it may take. */
function checkConnections({ connectionsMax: most, connectionsOpen: open }: PostgresInspection): Finding {
  const is = `${open} of ${most} connections are open; an instance takes up to ${perInstance}`;
  if (most - open >= perInstance) return ok('connections', is);
  return warning('connections', is, 'raise max_connections, or find who keeps them open (pg_stat_activity)');
}
