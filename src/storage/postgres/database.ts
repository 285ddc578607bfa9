import { Kysely, PostgresDialect } from 'kysely';
import { type ClientBase, DatabaseError, Pool } from 'pg';
import { minuteMs } from '../../clock.ts';
import { OperatorError } from '../../errors.ts';
import { oneAtATime } from '../../promises.ts';
import { connectionsDefault } from '../../setting-values.ts';
import type { Database, Parameters, Statement, Transaction } from '../database.ts';
import { migrate, requireSchema } from '../migrations/migrate.ts';
import { storeUnavailable, toOpeningError } from '../store-errors.ts';
import type { Tables } from '../tables.ts';
import { type PostgresCall, sendBatch, toCall } from './batch.ts';
import { createCallQueue } from './call-queue.ts';
import { connectionSettings, describeServer, removeLimits, StoreClient, send } from './client.ts';
import { isConnectionSpoilt, isRefusal } from './faults.ts';
import { loadRows } from './load.ts';
import { createPostgresPool } from './pool.ts';
import { askSession } from './pooler.ts';
import { requireUsable } from './requirements.ts';
import { rollBackRefusal, runSteps, takeValue } from './run-steps.ts';
import { findPrimary } from './servers.ts';

/** Maximum wait in ms for each lock at startup. Another instance may hold a lock, for example while it migrates. */
export const startLockMsMax = minuteMs;
/** Time in ms after which the server ends a start that hangs. Others get its lock within `startLockMsMax`. */
const silentMsMax = minuteMs / 2;
/** The advisory lock of Kysely's migrator, which would wait for an hour. So `prepareServer` takes the lock first. */
const migratorLock = 3_853_314_791_062_309_107n;
/** Why the server refuses a migration, by SQLSTATE. */
const refusals: Readonly<Record<string, (error: Error) => string>> = {
  '42501': ({ message }) => `${message}: run "animal-store migrate" as the owner of the tables`,
  '55P03': () => 'another session held a lock for too long; find that session in pg_locks, then start again',
};

/** Implements `openDatabase` on PostgreSQL. Several instances may start at once; each waits `lockMsMax` for a lock. */
export async function openPostgres(
  url: string,
  lockMsMax = startLockMsMax,
  mayMigrate = true,
  connections = connectionsDefault,
): Promise<Database> {
  try {
    await prepareServer(await findPrimary(url), { lockMsMax, mayMigrate, connections });
  } catch (error) {
    throw toOpeningError(describeServer(url), error);
  }
  return connect(url, connections);
}

interface Start {
  readonly lockMsMax: number;
  readonly mayMigrate: boolean;
  readonly connections: number;
}

/** Uses a connection without a statement timeout, because a migration of a large store would exceed the timeout. */
async function prepareServer(url: string, { lockMsMax, mayMigrate, connections }: Start): Promise<void> {
  const pool = new Pool({ ...connectionSettings(url), Client: StoreClient, max: 1 });
  pool.on('error', () => undefined);
  try {
    const client = await pool.connect();
    const session = await askSession(url, client).finally(() => client.release());
    if (session.todo !== null) throw new Error(`${session.is}: ${session.todo}`);
    await pool.query(`set lock_timeout = ${lockMsMax}`);
    const query = async (text: string) => (await pool.query<object>(text)).rows;
    // Before the lock, so that another session's lock does not delay a start that has nothing to migrate.
    const schema = requireSchema(await requireUsable(query, connections), describeServer(url), mayMigrate);
    if (schema === 'newest') return;
    await pool.query(removeLimits('session'));
    await pool.query(
      `set lock_timeout = ${lockMsMax}; set idle_in_transaction_session_timeout = ${silentMsMax};
       set idle_session_timeout = ${silentMsMax}`,
    );
    await pool.query('select pg_advisory_lock($1)', [migratorLock]);
    await migrate(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), 'postgres');
    await requireUsable(query, connections);
  } catch (error) {
    const reason = error instanceof DatabaseError ? refusals[error.code ?? '']?.(error) : undefined;
    if (reason === undefined) throw error;
    throw new OperatorError(`the database ${describeServer(url)} cannot be migrated: ${reason}`, {
      cause: error,
    });
  } finally {
    await pool.end();
  }
}

/** Maximum number of reads in one round trip. The server runs the reads of one connection one after the other. */
const batchReadsMax = 32;
/** Maximum number of adds in one transaction. */
const groupAddsMax = 64;

function connect(url: string, connections: number): Database {
  const pool = createPostgresPool(url, connections);
  const reads = createCallQueue({ lend: pool.read, send: sendBatch, callsMax: batchReadsMax });
  const asideReads = oneAtATime((call: PostgresCall) => pool.read((client) => sendBatch(client, [call])));
  const adds = createCallQueue({
    lend: pool.write,
    send: transact,
    callsMax: groupAddsMax,
    batchesMax: 1,
    sendAlone: runAlone,
  });
  let isClosed = false;

  async function runAlone(act: Act): Promise<PromiseSettledResult<unknown>> {
    const [outcome] = await pool.writeInTurn(act.accountId, (client) => transact(client, [act]));
    return outcome as PromiseSettledResult<unknown>;
  }

  function requireOpen(): void {
    if (isClosed) throw storeUnavailable(new Error('the database is closed'));
  }

  return {
    engine: 'postgres',
    hasOneWriter: false,
    async read<P extends Parameters, R>(statement: Statement<P, R>, parameters: P) {
      requireOpen();
      return (await reads.run(toCall(statement, parameters))) as readonly R[];
    },
    readNow: null,
    async readAside<P extends Parameters, R>(statement: Statement<P, R>, parameters: P) {
      requireOpen();
      const [rows = []] = await asideReads.run(toCall(statement, parameters));
      return rows as readonly R[];
    },
    countConnections: pool.count,
    async run<P extends Parameters, R>(statement: Statement<P, R>, parameters: P) {
      requireOpen();
      // Without `begin`, so that an instance that hangs holds no lock: the server ends the transaction itself.
      const call = toCall(statement, parameters);
      const [rows] = await pool.writeInTurn(undefined, (client) => sendBatch(client, [call]));
      return rows as readonly R[];
    },
    async transact(work, input, accountId) {
      requireOpen();
      const act = { work, input, accountId };
      return takeValue(await (work.isolation === 'new rows' ? adds.run(act) : runAlone(act))) as never;
    },
    async load(...rows) {
      return loadRows(url, ...rows);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await pool.close(Promise.all([reads.drain(), asideReads.drain(), adds.drain()]));
    },
  };
}

/** A transaction to run, as `Database.transact` gets it. */
interface Act {
  readonly work: Transaction<never, unknown>;
  readonly input: unknown;
  readonly accountId: bigint | undefined;
}

/** Runs transactions of one isolation as one, and returns the outcome of each. Throws if all are undone. */
async function transact(client: ClientBase, acts: readonly Act[]) {
  const bodies = acts.map(({ work, input }) => work.body(input as never));
  try {
    return await runSteps(client, bodies, acts[0]?.work.isolation);
  } catch (error) {
    if (isRefusal(error)) await rollBackRefusal(client);
    // The pool drops a lost or stuck connection, and the server then rolls back the transaction.
    else if (!isConnectionSpoilt(error)) await send(client, { text: 'rollback' }).catch(() => undefined);
    throw error;
  }
}
