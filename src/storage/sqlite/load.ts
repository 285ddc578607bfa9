import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Database, Value } from '../database.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy } from './connection.ts';
import { runWork } from './query.ts';

/**
 * `load` of the SQLite engine. The rows wait in a staging database of their own beside the store, so memory is bounded,
 * no other folder has to be writable, and the service is kept from writing only while they are copied, about a second
 * for a million.
 */
export async function loadRows(
  path: string,
  ...[table, columns, batches, { onWrite, changes } = {}]: Parameters<Database['load']>
): Promise<number> {
  const connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
  const { raw } = connection;
  const staging = attachStaging(raw, path);
  try {
    const names = columns.join(', ');
    raw.exec(`create table staging.loaded as select ${names} from ${table} where false`);
    if (changes !== undefined) raw.exec(addChangeColumns);
    await stageRows(raw, changes === undefined ? columns : [...columns, 'id', 'line'], batches);
    if (changes !== undefined) raw.exec('create index staging.loaded_by_id on loaded (id)');
    onWrite?.();
    await repeatWhileBusy(() => raw.exec('begin immediate'), lockWaitMsMax);
    if (changes !== undefined) runWork(connection, changes.apply());
    const insert = raw.prepare(
      `insert into main.${table} (${names}) select ${names} from staging.loaded
        ${changes === undefined ? '' : 'where id is null'} order by rowid`,
    );
    // It gives the last row's id as well, and throws where that is past 2^53 and no bigint.
    insert.setReadBigInts(true);
    const added = insert.run().changes;
    connection.requireInPlace();
    raw.exec(changes?.isDryRun ? 'rollback' : 'commit');
    return Number(added);
  } finally {
    connection.close();
    staging.remove();
  }
}

const addChangeColumns =
  'alter table staging.loaded add column id integer; alter table staging.loaded add column line integer';

/**
 * Attaches an empty database as `staging`. It needs no sync: nobody reads it after a crash. Its journal stays in memory,
 * and so does all else that SQLite would put into the system's temporary folder: the originals of the pages that a
 * statement changes, which are few, as new rows go to the ends of the table and its index.
 */
function attachStaging(raw: DatabaseSync, path: string): { remove(): void } {
  const file = `${path}-import-${randomUUID()}`;
  const remove = () => rmSync(file, { force: true });
  closeSync(openSync(file, 'wx', 0o600));
  try {
    raw.prepare('attach ? as staging').run(file);
    raw.exec(
      'pragma staging.journal_mode = memory; pragma staging.synchronous = off; pragma temp_store = memory',
    );
    // With its name gone the file ends with the process, also with one that is killed. Windows keeps the name until then.
    if (process.platform !== 'win32') remove();
    return { remove };
  } catch (error) {
    remove();
    throw error;
  }
}

async function stageRows(
  raw: DatabaseSync,
  columns: readonly string[],
  batches: AsyncIterable<readonly (readonly Value[])[]>,
): Promise<void> {
  const insert = raw.prepare(`insert into staging.loaded values (${columns.map(() => '?').join(', ')})`);
  for await (const batch of batches) {
    raw.exec('begin');
    for (const row of batch) insert.run(...row);
    raw.exec('commit');
  }
}
