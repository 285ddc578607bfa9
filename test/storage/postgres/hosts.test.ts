import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ClientBase } from 'pg';
import { connectionsDefault } from '../../../src/setting-values.ts';
import type { Database } from '../../../src/storage/database.ts';
import { openDatabase } from '../../../src/storage/open-database.ts';
import { send } from '../../../src/storage/postgres/client.ts';
import { createPostgresPool, divideConnections } from '../../../src/storage/postgres/pool.ts';
import { addWindow, selectSubjects, unavailable } from '../../contracts/window-rows.ts';
import {
  addressOf,
  type PostgresServer,
  startPostgresCluster,
  whyNoPostgresCluster,
} from '../../support/postgres-cluster.ts';
import { succeeds } from '../../support/processes.ts';
import { eventually } from '../../support/redis-server.ts';
import { startRelay } from '../../support/relay.ts';

const skip = whyNoPostgresCluster();

async function open(t: TestContext, url: string): Promise<Database> {
  const database = await openDatabase(url);
  t.after(() => database.close());
  return database;
}

const isServed = (database: Database) => succeeds(database.read(selectSubjects, {}));

/** Requires that a read fails, and why. */
async function expectCause(database: Database, message: RegExp): Promise<void> {
  const error = await database.read(selectSubjects, {}).catch(({ cause }) => cause);
  assert.match(error.message, message);
}

async function countConnections(server: PostgresServer): Promise<number> {
  const sql = `select pid from pg_stat_activity where application_name = 'animal-store'`;
  return (await server.execute(sql)).length;
}

/** Waits until a server has no connection. It may notice the end of a question a moment after the client. */
async function untilUnused(server: PostgresServer): Promise<void> {
  await eventually(async () => (await countConnections(server)) === 0);
}

test('an address with several PostgreSQL hosts leads to the one that takes writes', { skip }, async (t) => {
  const { primary, standby } = await startPostgresCluster(t);
  const url = addressOf(standby, primary);
  const database = await open(t, url);
  await addWindow(database, 'a');
  await untilUnused(standby);

  await t.test('after a promotion to the new primary', async (inner) => {
    await primary.kill();
    await assert.rejects(database.read(selectSubjects, {}), unavailable);
    await standby.promote();
    const promotedMs = performance.now();
    await eventually(() => isServed(database));
    inner.diagnostic(`served ${Math.round(performance.now() - promotedMs)} ms after the promotion`);
    await standby.alterSystem(`reset synchronous_standby_names`);
    await eventually(() => succeeds(addWindow(database, 'b')));
    assert.equal((await database.read(selectSubjects, {})).length, 2);
  });

  await t.test('and never back to the former primary if that comes back alone', async () => {
    await primary.start();
    await primary.alterSystem(`set synchronous_standby_names = ''`);
    assert.equal((await database.read(selectSubjects, {})).length, 2);
    await standby.kill();
    await eventually(async () => !(await isServed(database)));
    for (let times = 0; times < 3; times += 1) {
      await assert.rejects(database.read(selectSubjects, {}), unavailable);
      await assert.rejects(addWindow(database, 'c'), unavailable);
    }
    await expectCause(database, /ECONNREFUSED .*it is a former primary/);
    await untilUnused(primary);
    await standby.start();
    await eventually(() => isServed(database));
    assert.equal((await database.read(selectSubjects, {})).length, 2);
  });
});

test('after the loss of a connection, the others go on while the servers refuse new ones', {
  skip,
}, async (t) => {
  const { primary, standby } = await startPostgresCluster(t);
  await primary.execute('create role shop login');
  const pool = createPostgresPool(
    addressOf(standby, primary).replace(/\/\/.*@/, '//shop@'),
    connectionsDefault,
  );
  const { reads } = divideConnections(connectionsDefault);
  t.after(() => pool.close());
  const { promise: isLost, resolve: lose } = Promise.withResolvers<void>();
  let opened = 0;
  const ask = (client: ClientBase) => send(client, { text: 'select' });
  const tasks = Array.from({ length: reads }, () =>
    pool.read(async (client) => {
      opened += 1;
      await isLost;
      return ask(client);
    }),
  );
  await eventually(async () => opened === reads);
  const countShop = async () =>
    (await primary.execute("select from pg_stat_activity where usename = 'shop'")).length;
  // The one that asked the server what it is may take a moment to end.
  await eventually(async () => (await countShop()) === reads);
  await primary.execute('alter role shop connection limit 0');
  await primary.execute(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'shop' limit 1",
  );
  await eventually(async () => (await countShop()) === reads - 1);
  lose();
  const ends = await Promise.allSettled(tasks);
  assert.equal(ends.filter(({ status }) => status === 'rejected').length, 1);
  for (let count = 0; count < 20; count += 1) await pool.read(ask);
});

test('a start fails with one line that says what each PostgreSQL host said', { skip }, async (t) => {
  const { primary, standby } = await startPostgresCluster(t);
  await primary.alterSystem('set default_transaction_read_only = on');
  const gone = { ...primary, url: primary.url.replace(/:\d+\//, ':1/') };
  const message =
    /^the database \S+\/postgres cannot be opened: none of its hosts takes writes: 127\.0\.0\.1:\d+: it is a standby; 127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:\d+: it is read-only$/;
  await assert.rejects(openDatabase(addressOf(standby, gone, primary)), { name: 'OperatorError', message });
});

test('connections to a PostgreSQL server end when its address leads to another one', { skip }, async (t) => {
  const { primary, standby } = await startPostgresCluster(t);
  const relay = await startRelay(t, primary.url);
  const database = await open(t, relay.url);
  await addWindow(database, 'a');
  await primary.alterSystem(`reset synchronous_standby_names`);
  await standby.promote();
  relay.redirect(standby.url);
  assert.ok((await countConnections(primary)) > 0);
  // Simultaneous reads need more connections than are open.
  await eventually(async () => {
    await Promise.allSettled(Array.from({ length: 200 }, () => database.read(selectSubjects, {})));
    return (await countConnections(primary)) === 0;
  });
  await eventually(() => isServed(database));
  await untilUnused(primary);
  assert.ok((await countConnections(standby)) > 0);

  await t.test('and it is not used again if its address leads back to it', async () => {
    await relay.cut();
    relay.redirect(primary.url);
    await relay.mend();
    await assert.rejects(database.read(selectSubjects, {}), unavailable);
    await expectCause(database, /it is a former primary/);
  });
});
