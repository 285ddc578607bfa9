import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { DatabaseError } from 'pg';
import { AppError } from '../../../src/errors.ts';
import { statement } from '../../../src/storage/database.ts';
import { repeatOnConflict, throwStorageError } from '../../../src/storage/postgres/faults.ts';
import { addWindow, selectSubjects, selectUsed, unavailable } from '../../contracts/window-rows.ts';
import { addWindows, readSubjects } from '../../contracts/works.ts';
import { importPets } from '../../support/catalogue.ts';
import { findPostgres, openStore, type Store } from '../../support/engines.ts';
import { connectPostgres } from '../../support/postgres-databases.ts';
import { eventually } from '../../support/redis-server.ts';
import { startRelay } from '../../support/relay.ts';

const postgres = await findPostgres();

/** Selects the prepared statements of the connection, including this statement. */
const selectPrepared = statement((query) =>
  query.selectFrom('pg_prepared_statements' as 'pets').select('name'),
);

/** Divides 1 by a number. Fails for zero. */
const divide = statement((query, p: { number: bigint }) =>
  query.selectNoFrom(sql<bigint>`1 / cast(${p.number} as bigint)`.as('quotient')),
);

describe('a faulty PostgreSQL', { skip: postgres.skip }, () => {
  test('makes calls fail as unavailable only while the connection is broken', async (t) => {
    const store = await postgres.createStore(t);
    const relay = await startRelay(t, store.url);
    const database = await store.open(relay.url);
    await addWindow(database, 'a');
    await relay.cut();
    await assert.rejects(async () => database.read(selectSubjects, {}), unavailable);
    await assert.rejects(addWindow(database, 'b'), unavailable);
    await assert.rejects(database.transact(readSubjects, null), unavailable);
    await assert.rejects(importPets(database), unavailable);
    await relay.mend();
    assert.equal((await database.read(selectSubjects, {})).length, 1);
  });

  test('undoes only the running transaction, as unavailable, if the server ends its connection', async (t) => {
    const { store, database } = await openStore(t, postgres);
    const unlock = await lockWindows(t, store);
    const work = database.transact(addWindows, [{ subject: 'a', used: 1n }]);
    const failing = assert.rejects(work, unavailable);
    const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const terminate = `select pg_terminate_backend(pid) ${waiting}`;
    await eventually(async () => (await store.execute(terminate)).length === 1);
    await failing;
    await unlock();
    await addWindow(database, 'b');
    assert.deepEqual(await database.read(selectSubjects, {}), [{ subject: 'b' }]);
  });

  test('does not affect calls if the server ends only idle connections', async (t) => {
    const { store, database } = await openStore(t, postgres);
    await Promise.all(Array.from({ length: 20 }, () => database.read(selectSubjects, {})));
    await store.execute(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    await eventually(async () => {
      const [read] = await Promise.allSettled([database.read(selectSubjects, {})]);
      if (read.status === 'rejected') assert.equal(read.reason.code, 'unavailable');
      return read.status === 'fulfilled';
    });
  });

  for (const limit of ['lock_timeout=20', 'statement_timeout=1000'])
    test(`makes calls fail as unavailable if a table is locked for longer than ${limit}`, async (t) => {
      const store = await postgres.createStore(t);
      const database = await store.open(`${store.url}?${limit}`);
      const unlock = await lockWindows(t, store);
      await assert.rejects(async () => database.read(selectSubjects, {}), unavailable);
      await assert.rejects(addWindow(database, 'a'), unavailable);
      await unlock();
      await addWindow(database, 'a');
    });

  test('makes writes fail as unavailable only while the server is read-only', async (t) => {
    const { store, database } = await openStore(t, postgres);
    const name = new URL(store.url).pathname.slice(1);
    const setReadOnly = (isReadOnly: boolean) =>
      store.execute(`begin read write;
        alter database ${name} set default_transaction_read_only = ${isReadOnly}; commit`);
    await setReadOnly(true);
    await assert.rejects(addWindow(database, 'a'), unavailable);
    await setReadOnly(false);
    await addWindow(database, 'a');
  });

  test('makes a transaction fail as unavailable if its serialization conflicts do not end', async (t) => {
    const store = await postgres.createStore(t);
    let attempts = 0;
    const conflict = `do $$ begin raise exception using errcode = 'serialization_failure'; end $$`;
    const attempt = () => {
      attempts += 1;
      return store.execute(conflict).catch(throwStorageError);
    };
    await assert.rejects(repeatOnConflict(attempt, 1_000), (error) => {
      assert.ok(error instanceof AppError && error.cause instanceof DatabaseError);
      return error.code === 'unavailable';
    });
    assert.ok(attempts > 1);
  });
});

describe('the PostgreSQL driver', { skip: postgres.skip }, () => {
  test('prepares each statement once for each connection', async (t) => {
    const { database } = await openStore(t, postgres);
    for (const subject of ['a', 'b', 'c']) await database.read(selectUsed, { subject });
    assert.equal((await database.read(selectPrepared, {})).length, 2);
  });

  test('repeats each of the statements that it sent together if one fails, also on the same connection', async (t) => {
    const { database } = await openStore(t, postgres);
    for (let round = 0; round < 3; round += 1) {
      const reads = [1n, 0n, 1n, 0n].map((number) => database.read(divide, { number }));
      const settled = await Promise.allSettled(reads);
      const told = settled.map((read) =>
        read.status === 'fulfilled' ? read.value[0]?.quotient : read.reason.code,
      );
      assert.deepEqual(told, [1n, '22012', 1n, '22012']);
    }
  });

  test('fails at the start with one line if the encoding of the database cannot store every name', async (t) => {
    const store = await postgres.createStore(t);
    const address = new URL(store.url);
    const name = `${address.pathname.slice(1)}_ascii`;
    address.pathname = name;
    await store.execute(`create database ${name} template template0 encoding 'SQL_ASCII' locale 'C'`);
    const message = /its encoding is SQL_ASCII: create/;
    await assert.rejects(store.open(address.href), { name: 'OperatorError', message });
    await store.execute(`drop database ${name} with (force)`);
  });
});

/** Blocks all reads and writes of the windows until the lock is released. */
async function lockWindows(t: TestContext, store: Store) {
  const client = await connectPostgres(t, store.url);
  await client.query('begin; lock table usage_windows in access exclusive mode');
  return () => client.query('rollback');
}
