import { Kysely, PostgresDialect } from 'kysely';
import { type ClientBase, DatabaseError, Pool } from 'pg';
import { minuteMs } from '../../clock.ts';
import { OperatorError } from '../../errors.ts';
import type { Database, Isolation, NamedWork } from '../database.ts';
import { isNewest, migrate } from '../migrations/migrate.ts';
import { toOpeningError } from '../opening-error.ts';
import type { Tables } from '../tables.ts';
import { connectionSettings, describeServer, query, removeLimits, runWork, send } from './client.ts';
import { isConnectionSpoilt } from './faults.ts';
import { loadRows } from './load.ts';
import { watchAccounts } from './notices.ts';
import { createPostgresPool } from './pool.ts';

/** How long a start waits for each lock that others hold, such as one that brings the schema meanwhile. */
export const startLockMsMax = minuteMs;
/** How long the server keeps the locks of a start that has fallen silent: less, so that those that wait go on. */
const silentMsMax = minuteMs / 2;
/** The lock of Kysely's migrator. It would wait an hour for it; of a connection that holds it already it is had at once. */
const migratorLock = 3_853_314_791_062_309_107n;
const lockNotHad = '55P03';

/**
 * Opens the database at a `postgres://` address and brings it to the newest schema; any number of instances may do so
 * at once, and each waits a minute at most for its turn. Throws OperatorError with one clear line, which never shows
 * the password, where it cannot be used.
 */
export async function openPostgres(url: string, lockMsMax = startLockMsMax): Promise<Database> {
  try {
    await prepareServer(url, lockMsMax);
  } catch (error) {
    throw toOpeningError(describeServer(url), error);
  }
  return connect(url);
}

/** Over a connection that bounds no statement: what brings the schema may take long on a large store. */
async function prepareServer(url: string, lockMsMax: number): Promise<void> {
  const pool = new Pool({
    ...connectionSettings(url),
    max: 1,
    lock_timeout: lockMsMax,
    idle_in_transaction_session_timeout: silentMsMax,
  });
  pool.on('error', () => undefined);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    const { rows } = await pool.query<{ server_encoding: string }>('show server_encoding');
    const encoding = rows[0]?.server_encoding;
    if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding}, not UTF8`);
    // Where there is nothing to do, nobody who holds a lock keeps an instance from starting.
    if (await isNewest(db)) return;
    await pool.query(removeLimits('session'));
    await pool.query(
      `set lock_timeout = ${lockMsMax}; set idle_in_transaction_session_timeout = ${silentMsMax};
       set idle_session_timeout = ${silentMsMax}`,
    );
    await pool.query('select pg_advisory_lock($1)', [migratorLock]);
    await migrate(db, 'postgres');
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === lockNotHad)) throw error;
    throw new OperatorError(
      `the database ${describeServer(url)} cannot be brought to the newest schema: another has held a lock on it for too long; see who (pg_locks), and start again`,
      { cause: error },
    );
  } finally {
    await db.destroy();
  }
}

function connect(url: string): Database {
  const pool = createPostgresPool(url);
  const stops: (() => void)[] = [];
  return {
    engine: 'postgres',
    read: (statement, parameters) => pool.lend((client) => query(client, statement, parameters)),
    readNow: null,
    run: (statement, parameters) => pool.lend((client) => query(client, statement, parameters)),
    transact: (work, input) => pool.lend((client) => transact(client, work, input)),
    load: (...rows) => loadRows(url, ...rows),
    watchAccounts(onChange) {
      stops.push(watchAccounts(url, onChange));
    },
    close() {
      for (const stop of stops.splice(0)) stop();
      return pool.close();
    },
  };
}

const begins: Readonly<Record<Isolation, string>> = {
  serializable: 'begin isolation level serializable',
  'row locks': 'begin isolation level read committed',
};

async function transact<I, T>(
  client: ClientBase,
  { body, isolation }: NamedWork<I, T>,
  input: I,
): Promise<T> {
  await send(client, { text: begins[isolation] });
  try {
    const result = await runWork(client, body(input));
    await send(client, { text: 'commit' });
    return result;
  } catch (error) {
    // A connection that is lost or stuck is dropped by the pool, and the server undoes the transaction with it.
    if (!isConnectionSpoilt(error)) await send(client, { text: 'rollback' }).catch(() => undefined);
    throw error;
  }
}
