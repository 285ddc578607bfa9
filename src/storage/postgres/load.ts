import type { ClientBase } from 'pg';
import { OutcomeUnknownError } from '../../errors.ts';
import type { Database, Steps, Value } from '../database.ts';
import { removeLimits, send } from './client.ts';
import { isFromServer, repeatOnConflict, throwConnectionError } from './faults.ts';
import { runSteps, takeValue } from './run-steps.ts';
import { connectToPrimary } from './servers.ts';

/** Implements `load` on PostgreSQL. Rows first go to a temporary table, so no transaction is open while they arrive. */
export async function loadRows(
  url: string,
  ...[table, columns, batches, { check, apply }]: Parameters<Database['load']>
): Promise<void> {
  await using client = await connectToPrimary(url).catch(throwConnectionError);
  await send(client, { text: removeLimits('session') });
  const names = columns.join(', ');
  await send(client, { text: `create temp table loaded as select ${names} from ${table} with no data` });
  const added =
    'add id bigint, add line bigint, add problem text, add place bigint generated always as identity';
  await send(client, { text: `alter table loaded ${added}` });
  await stageRows(client, [...columns, 'id', 'line'], batches);
  await send(client, { text: 'create index on loaded (id); analyze loaded' });
  // Without a transaction, which would hold up the deletion of old row versions.
  await runAlone(client, check());
  if (apply === null) return;
  const insert = `insert into ${table} (${names}) select ${names} from loaded where id is null order by place`;
  await repeatOnConflict(() => changeAndAdd(client, apply, insert), Number.POSITIVE_INFINITY);
  // Ends the plans that connections have made for a small table, which may read all of it. The rows are there anyway.
  await send(client, { text: `analyze (skip_locked) ${table}` }).catch(() => undefined);
}

async function runAlone(client: ClientBase, body: Steps<void>): Promise<void> {
  const [done] = await runSteps(client, [body]);
  takeValue(done);
}

async function changeAndAdd(client: ClientBase, apply: () => Steps<void>, insert: string) {
  await send(client, { text: 'begin isolation level read committed' });
  try {
    await runAlone(client, apply());
    for (const text of [insert, 'commit']) await send(client, { text }).catch(throwUnlessOpen);
  } catch (error) {
    await send(client, { text: 'rollback' }).catch(() => undefined);
    throw error;
  }
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
