import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Database, Value } from '../database.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy } from './connection.ts';
import { runSteps } from './statements.ts';

/** Implements `load` on SQLite. Rows first go to a file beside the store, so other writes wait only for the copy. */
export async function loadRows(
  path: string,
  ...[table, columns, batches, { check, apply }]: Parameters<Database['load']>
): Promise<void> {
  const connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
  const { raw, run, requireInPlace } = connection;
  const staging = attachStaging(raw, path);
  try {
    const names = columns.join(', ');
    raw.exec(`create table staging.loaded as select ${names} from ${table} where false;
      alter table staging.loaded add column id integer; alter table staging.loaded add column line integer;
      alter table staging.loaded add column problem text`);
    await stageRows(raw, [...columns, 'id', 'line'], batches);
    raw.exec('create index staging.loaded_by_id on loaded (id)');
    // Reads the store in a snapshot. Only `begin immediate` locks it for other writers.
    await transact(raw, 'begin', () => runSteps(run, check()));
    if (apply === null) return;
    await transact(raw, 'begin immediate', () => {
      runSteps(run, apply());
      raw.exec(`insert into main.${table} (${names})
        select ${names} from staging.loaded where id is null order by rowid`);
      requireInPlace();
    });
  } finally {
    connection.close();
    staging.remove();
  }
}

/** Runs a transaction, from its beginning again while another connection has the lock that it needs first. */
function transact(raw: DatabaseSync, begin: 'begin' | 'begin immediate', body: () => void): Promise<void> {
  return repeatWhileBusy(() => {
    raw.exec(begin);
    try {
      body();
      raw.exec('commit');
    } finally {
      if (raw.isTransaction) raw.exec('rollback');
    }
  }, lockWaitMsMax);
}

/** Attaches an empty database as `staging`, without syncs. Uses no temporary folder, which may be missing. */
function attachStaging(raw: DatabaseSync, path: string): { remove(): void } {
  const file = `${path}-import-${randomUUID()}`;
  const remove = () => rmSync(file, { force: true });
  closeSync(openSync(file, 'wx', 0o600));
  try {
    raw.prepare('attach ? as staging').run(file);
    raw.exec(
      'pragma staging.journal_mode = memory; pragma staging.synchronous = off; pragma temp_store = memory',
    );
    // Removes the name of the open file. The system then deletes the file when the process ends, even if the process
    // is killed. Windows cannot do this, so `remove` deletes the file later.
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
  const insert = raw.prepare(`insert into staging.loaded (${columns}) values (${columns.map(() => '?')})`);
  for await (const batch of batches) {
    raw.exec('begin');
    for (const row of batch) insert.run(...row);
    raw.exec('commit');
  }
}
