import type { ClientBase } from 'pg';
import { OutcomeUnknownError } from '../../errors.ts';
import type { Database, LoadOptions, Value } from '../database.ts';
import { removeLimits, runSteps, send } from './client.ts';
import { isFromServer, repeatOnConflict, throwConnectionError } from './faults.ts';
import { connectToPrimary } from './servers.ts';

type Changes = NonNullable<LoadOptions['changes']>;

/**
 * Implements `load` on PostgreSQL, on a separate connection without timeouts. The rows first go to a temporary table,
 * so that no transaction stays open while they arrive. Changes of rows are repeated after a deadlock.
 */
export async function loadRows(
  url: string,
  ...[table, columns, batches, { onWrite, changes } = {}]: Parameters<Database['load']>
): Promise<number> {
  const client = await connectToPrimary(url).catch(throwConnectionError);
  try {
    await send(client, { text: removeLimits('session') });
    const names = columns.join(', ');
    await send(client, { text: `create temp table loaded as select ${names} from ${table} with no data` });
    await send(client, { text: 'alter table loaded add place bigint generated always as identity' });
    if (changes !== undefined)
      await send(client, { text: 'alter table loaded add id bigint, add line bigint' });
    await stageRows(client, changes === undefined ? columns : [...columns, 'id', 'line'], batches);
    onWrite?.();
    const text = `insert into ${table} (${names}) select ${names} from loaded
      ${changes === undefined ? '' : 'where id is null'} order by place`;
    if (changes === undefined) return await sendCounted(client, text);
    await send(client, { text: 'create index on loaded (id); analyze loaded' });
    return await repeatOnConflict(() => changeAndAdd(client, changes, text), Number.POSITIVE_INFINITY);
  } finally {
    await client.end();
  }
}

/** Changes the existing rows, adds the new rows with the statement `insert` and returns the number of added rows. */
async function changeAndAdd(client: ClientBase, changes: Changes, insert: string): Promise<number> {
  await send(client, { text: 'begin isolation level read committed' });
  try {
    await runSteps(client, changes.apply());
    const added = await sendCounted(client, insert);
    await send(client, { text: changes.isDryRun ? 'rollback' : 'commit' }).catch(throwUnlessOpen);
    return added;
  } catch (error) {
    await send(client, { text: 'rollback' }).catch(() => undefined);
    throw error;
  }
}

async function sendCounted(client: ClientBase, text: string): Promise<number> {
  const { rowCount } = await send(client, { text }).catch(throwUnlessOpen);
  return rowCount ?? 0;
}

/** If the server did not respond, the transaction may have been committed. */
function throwUnlessOpen(error: unknown): never {
  if (isFromServer(error)) throw error;
  throw new OutcomeUnknownError(
    'the connection to the database was lost: either all rows were added or none; check before you try again',
    { cause: error },
  );
}

async function stageRows(
  client: ClientBase,
  columns: readonly string[],
  batches: AsyncIterable<readonly (readonly Value[])[]>,
): Promise<void> {
  const names = columns.join(', ');
  const text = `insert into loaded (${names}) select ${names} from json_populate_recordset(null::loaded, $1)`;
  for await (const batch of batches)
    await send(client, { name: 'stage', text, values: [toRecordset(columns, batch)] });
}

/** Writes rows for `json_populate_recordset`. All values are JSON strings, so int64 values keep all digits. */
export function toRecordset(columns: readonly string[], rows: readonly (readonly Value[])[]): string {
  const records = rows.map((row) =>
    Object.fromEntries(columns.map((name, index) => [name, toText(row[index])])),
  );
  return JSON.stringify(records);
}

function toText(value: Value | undefined): string | null {
  if (value === undefined) throw new TypeError('a row has fewer values than there are columns');
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'bigint') return value.toString();
  return `\\x${Buffer.from(value).toString('hex')}`;
}
