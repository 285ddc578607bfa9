import { setTimeout } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { OperatorError } from '../../errors.ts';
import { toOpeningError } from '../store-errors.ts';
import { batchRowsMax, type Row, type StoreTable, type WholeStore } from '../transfer/whole-store.ts';
import { applicationName, describeServer, removeLimits, send } from './client.ts';
import { toRecordset } from './load.ts';
import { connectToPrimary } from './servers.ts';

/** Maximum wait in ms for other writers before a whole store is written. */
const lockWaitMsMax = 30_000;

/** Time in ms that the server may still list a closed connection, and interval in ms of the check. */
const closingMsMax = 2_000;
const checkEveryMs = 50;

/** Columns that only instances of 1.1.0 use, which may run beside this release. A SQLite store has none of them. */
export const columnsOf110: readonly string[] = ['ping_id', 'tx'];

/** `server_timeline` belongs to one server, and only release 1.0.0 uses `idempotency_records`. */
const tablesSql = `
  select relname::text as name,
    array(select confrelid::regclass::text from pg_constraint where contype = 'f' and conrelid = pg_class.oid)
      as "references",
    exists (select from pg_attribute where attrelid = pg_class.oid and attidentity <> '') as assigns_ids
  from pg_class
  where relkind = 'r' and relnamespace = (select relnamespace from pg_class where oid = 'key_bans'::regclass)
    and relname not in ('schema_migrations', 'schema_migrations_lock', 'server_timeline', 'idempotency_records')
  order by relname`;

/** Implements `useStore` on PostgreSQL. */
export async function usePostgresStore<T>(url: string, task: (store: WholeStore) => Promise<T>): Promise<T> {
  await using client = await connectToPrimary(url).catch((error) => {
    throw toOpeningError(describeServer(url), error);
  });
  const store = createWholeStore(client, url);
  await store.query('begin');
  await store.query(removeLimits('transaction'));
  await store.query(`set local lock_timeout = ${lockWaitMsMax}`);
  const names = (await store.listTables()).map(({ name }) => name);
  await store.query(`lock table ${names.join(', ')} in exclusive mode`).catch((error) => {
    throw toOpeningError(describeServer(url), error);
  });
  const result = await task(store);
  await send(client, { text: 'commit' });
  return result;
}

function createWholeStore(client: ClientBase, url: string): WholeStore {
  const query = async (sql: string) => (await send(client, { text: sql })).rows as readonly Row[];

  return {
    query,

    listTables: () => listTables(query),

    async *readRows(name) {
      await query(
        `declare copied no scroll cursor for select ${await listColumns(query, name)} from ${name}`,
      );
      for (;;) {
        const rows = await query(`fetch ${batchRowsMax} from copied`);
        if (rows.length === 0) break;
        yield rows;
      }
      await query('close copied');
    },

    async replaceRows(name, batches) {
      await query(`delete from ${name}`);
      for await (const batch of batches) {
        const columns = Object.keys(batch[0] ?? {});
        const names = columns.join(', ');
        const text = `insert into ${name} (${names}) overriding system value
          select ${names} from json_populate_recordset(null::${name}, $1)`;
        const values = [toRecordset(columns, batch.map(Object.values))];
        await send(client, { name: `copy ${name}`, text, values });
      }
    },

    async readLastId(name) {
      const [row] = await query(
        `select greatest(coalesce(pg_sequence_last_value(${sequenceOf(name)}), 0), (select max(id) from ${name})) as id`,
      );
      return row?.['id'] as bigint;
    },

    async setLastId(name, id) {
      await query(`select setval(${sequenceOf(name)}, ${id})`);
    },

    requireUnserved: () => requireUnserved(query, describeServer(url)),
  };
}

async function requireUnserved(query: WholeStore['query'], name: string): Promise<void> {
  const lastAtMs = performance.now() + closingMsMax;
  for (;;) {
    // Within a transaction, pg_stat_activity shows the same snapshot until it is cleared.
    await query('select pg_stat_clear_snapshot()');
    if ((await query(otherConnections)).length === 0) return;
    if (performance.now() > lastAtMs)
      throw new OperatorError(`the store ${name} is in use: stop the instances that use it first`);
    await setTimeout(checkEveryMs);
  }
}

async function listTables(query: WholeStore['query']): Promise<StoreTable[]> {
  return (await query(tablesSql)).map(({ name, references, assigns_ids }) => ({
    name: String(name),
    references: references as unknown as readonly string[],
    assignsIds: assigns_ids as unknown as boolean,
  }));
}

async function listColumns(query: WholeStore['query'], name: string): Promise<string> {
  const rows = await query(`select attname as name from pg_attribute
    where attrelid = '${name}'::regclass and attnum > 0 and not attisdropped`);
  const names = rows.map((row) => String(row['name']));
  return names.filter((column) => !columnsOf110.includes(column)).join(', ');
}

/** Selects the connections of running instances and commands, except this connection. */
const otherConnections = `select pid from pg_stat_activity where datname = current_database()
  and split_part(application_name, ' ', 1) = '${applicationName}' and pid <> pg_backend_pid()`;

function sequenceOf(table: string): string {
  return `pg_get_serial_sequence('${table}', 'id')::regclass`;
}
