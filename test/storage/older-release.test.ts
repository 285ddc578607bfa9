import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { claimMigrating, claimServing } from '../../src/storage/sqlite/claim-serving.ts';
import { openSqlite } from '../../src/storage/sqlite/database.ts';
import { findPostgres } from '../support/engines.ts';
import { makeFolder } from '../support/service.ts';

const postgres = await findPostgres();

describe('an instance of release 1.0.0 on PostgreSQL', { skip: postgres.skip }, () => {
  test('gets the error "cannot connect now" (57P03) when it adds an animal, and writes nothing', async (t) => {
    const store = await postgres.createStore(t);
    const insert = "insert into pets (name, category_id, status) values ('Rex', 1, 'available') returning id";
    await assert.rejects(store.execute(insert), { code: '57P03' });
    for (const table of ['pets', 'event_outbox'])
      assert.deepEqual(await store.execute(`select * from ${table}`), []);
  });
});

describe('a SQLite store of an older release', () => {
  /** Creates a store on which only the first migration has run. */
  async function makeOlder(t: TestContext): Promise<string> {
    const path = join(await makeFolder(t), 'store.db');
    await (await openSqlite(path)).close();
    const file = new DatabaseSync(path);
    file.exec("delete from schema_migrations where name <> '0001-first'");
    file.close();
    return path;
  }

  const refusal = {
    name: 'OperatorError',
    message:
      /^the database .*store\.db has the schema of an older release, and a service or another migration uses it: stop that service, or run this command again after the migration$/,
  };
  // This error proves that the second migration starts, because its tables already exist.
  const isStarted = /already exists/;

  test('is neither migrated nor served while another process serves or migrates it', async (t) => {
    const path = await makeOlder(t);
    const endClaim = await claimMigrating(path);
    const open = new DatabaseSync(path);
    t.after(() => open.close());
    open.exec('pragma journal_mode = wal; begin; select 1 from sqlite_schema; commit');
    await assert.rejects(openSqlite(path), refusal);
    await assert.rejects(
      claimServing(`sqlite:${path}`),
      /^OperatorError: another service is serving .*store\.db, or a command migrates or restores it: /,
    );
    endClaim();
    await assert.rejects(openSqlite(path), isStarted);
  });

  test('is migrated by the process that serves it', async (t) => {
    const path = await makeOlder(t);
    t.after(await claimServing(`sqlite:${path}`));
    await assert.rejects(openSqlite(path), isStarted);
  });
});
