import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { everything } from '../../src/events/event-reader.ts';
import { readFeed } from '../../src/events/feed.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { createInventory } from '../../src/inventory/inventory.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import type { Database } from '../../src/storage/database.ts';
import { noteRestore } from '../../src/storage/note-restore.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { petValues } from '../support/catalogue.ts';
import { runInProcess } from '../support/command-line.ts';
import { findPostgres, type Store } from '../support/engines.ts';
import { migrateAsBefore, migrationsOf110 } from '../support/older-schema.ts';
import { startPostgresCluster, whyNoPostgresCluster } from '../support/postgres-cluster.ts';
import { openDumpFolder, whyNoPostgresTools } from '../support/postgres-tools.ts';
import { findBlocks, readDocument } from './markdown.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoPostgresTools()) || whyNoPostgresCluster();

const blocks = findBlocks(await readDocument('docs/operations/backup-and-restore.md'));
const findCode = (part: RegExp) => blocks.find(({ code }) => part.test(code))?.code ?? assert.fail(`${part}`);
const dump = findCode(/^pg_dump /m);
const restores = {
  'into an empty database': findCode(/^pg_restore --exit-on-error /),
  'over the old store': findCode(/^pg_restore --clean /),
};
const command = findCode(/^npx animal-store restore --in-place/)
  .replace('npx animal-store ', '')
  .trim();
const repair = findCode(/^begin;/);

/** Adds an animal and its event. Returns their last id and position. */
async function add(database: Database) {
  const [row] = await database.run(insertPet, petValues());
  await sequenceEvents(database);
  const { next } = await readFeed(database, { start: 'now', limit: 1 }, everything);
  return { id: row?.id ?? 0n, position: next };
}

/** Adds an animal after which comes the backup, and one which the backup does not know. */
async function addBeside(database: Database, backUp: () => Promise<void>) {
  const kept = await add(database);
  await backUp();
  return { kept, lost: await add(database) };
}

/** Expects that a store has the first animal alone, and gives neither the id nor the position of the lost one again. */
async function expectSkipped(
  database: Database,
  { kept, lost }: Awaited<ReturnType<typeof addBeside>>,
): Promise<void> {
  const expectLost = () =>
    assert.rejects(readFeed(database, { start: lost.position, limit: 1 }, everything), {
      code: 'events_expired',
    });
  await expectLost();
  const added = await add(database);
  assert.ok(added.id > lost.id);
  assert.ok(added.position > lost.position);
  await expectLost();
  const { events } = await readFeed(database, { start: kept.position, limit: 100 }, everything);
  assert.deepEqual(
    events.map(({ id }) => id),
    [added.position],
  );
  const { asOfMs: _, ...counts } = await createInventory(database)(null);
  assert.deepEqual(counts, { available: 2n, pending: 0n, sold: 0n });
}

const createThis = (t: TestContext) => postgres.createStore(t);

async function createOlder(t: TestContext): Promise<Store> {
  const store = await postgres.createEmptyStore(t);
  await migrateAsBefore(store, migrationsOf110);
  return store;
}

const webhook = `
  insert into accounts (name, plan, created_at_ms) values ('Zoo', 'free', 0);
  insert into webhooks (public_id, account_id, key_id, url, types, sees_pets, sees_orders, status, position, revision,
      failures, next_attempt_at_ms, created_at_ms)
    values ('wh_8tKq2ZmX0aLr5VnC', (select max(id) from accounts), 'key_1', 'https://zoo.example/', 'pet.added', 1, 'own',
      'enabled', 0, 0, 0, 0, 0)`;

const session = `
  insert into operators (name, role, created_at_ms) values ('mira', 'admin', 0);
  insert into console_sessions (token_hash, id, kind, made_by, operator, created_at_ms, expires_at_ms)
    values ('x', 'token_1', 'token', 'mira', 'mira', 0, 9223372036854775807)`;

const readWebhooks = ({ execute }: Store) =>
  execute('select status, disabled_because as because, position from webhooks');

describe('the guide to backups of PostgreSQL', { skip }, () => {
  for (const [where, restore] of Object.entries(restores))
    test(`restores a dump ${where}, so that no later id or position is given again`, async (t) => {
      const run = await openDumpFolder(t);
      const store = await postgres.createStore(t);
      const former = await store.open();
      const added = await addBeside(former, () => run(store.url, dump));
      await former.close();
      const target = where === 'over the old store' ? store : await postgres.createEmptyStore(t);
      await run(target.url, restore);
      await expectSkipped(await target.open(), added);
    });

  test('brings a store back whose webhooks are on hold from the start of an instance on', async (t) => {
    const run = await openDumpFolder(t);
    const store = await postgres.createStore(t);
    await (await store.open()).close();
    await store.execute(webhook);
    await run(store.url, dump);
    await run(store.url, restores['over the old store']);
    const database = await store.open();
    await noteRestore(database);
    assert.deepEqual(await readWebhooks(store), [{ status: 'disabled', because: 'restored', position: '0' }]);
    await store.execute(`update webhooks set status = 'enabled'`);
    await noteRestore(database);
    assert.partialDeepStrictEqual(await readWebhooks(store), [{ status: 'enabled' }]);
  });

  test('brings a store back in which no session of an operator goes on', async (t) => {
    const run = await openDumpFolder(t);
    const store = await postgres.createStore(t);
    await (await store.open()).close();
    await store.execute(session);
    await run(store.url, dump);
    await run(store.url, restores['over the old store']);
    await noteRestore(await store.open());
    assert.deepEqual(await store.execute('select id from console_sessions'), []);
  });

  test('names all operators in the answer of the command, which ends their sessions', async (t) => {
    const store = await postgres.createStore(t);
    await (await store.open()).close();
    await store.execute(session);
    const { stdout } = await runInProcess(`${command} --json`, store.url);
    const ended = { sessionsEnded: 1, operatorsToCheck: ['mira'] };
    assert.partialDeepStrictEqual(JSON.parse(stdout), ended);
    assert.deepEqual(await store.execute('select id from console_sessions'), []);
  });

  test('tells the store of a snapshot by a command, which says how many webhooks are on hold', async (t) => {
    const store = await postgres.createStore(t);
    const database = await store.open();
    const { id } = await add(database);
    await database.close();
    await store.execute(webhook);
    const { stdout } = await runInProcess(`${command} --json`, store.url);
    assert.partialDeepStrictEqual(JSON.parse(stdout), { webhooksOnHold: 1, keysThatWorkAgain: null });
    assert.ok((await add(await store.open())).id > id + 1_000_000n);
    assert.partialDeepStrictEqual(await readWebhooks(store), [{ because: 'restored' }]);
  });

  test('lets a store skip ids even on a server with the same history', async (t) => {
    const run = await openDumpFolder(t);
    const first = await postgres.createStore(t);
    await run(first.url, dump);
    let last = 0n;
    for (const server of ['former', 'new']) {
      const { primary } = await startPostgresCluster(t);
      await run(primary.url, restores['into an empty database']);
      const database = await openDatabase(primary.url);
      const { id } = await add(database);
      assert.ok(id > last, `the ${server} server gives the id ${id}`);
      await run(primary.url, dump);
      last = (await add(database)).id;
      await database.close();
    }
  });

  test('changes nothing if a dump of an older release is restored over a newer store', async (t) => {
    const run = await openDumpFolder(t);
    const older = await postgres.createEmptyStore(t);
    await migrateAsBefore(older, migrationsOf110);
    await run(older.url, dump);
    const store = await postgres.createStore(t);
    const { id } = await add(await store.open());
    await assert.rejects(run(store.url, restores['over the old store']), /other objects depend on it/);
    assert.deepEqual(await store.execute('select id from pets'), [{ id: String(id) }]);
    await store.open();
  });

  test('lets a store of release 1.1.0 skip the ids and positions that came after a dump', async (t) => {
    const run = await openDumpFolder(t);
    const former = await postgres.createEmptyStore(t);
    await migrateAsBefore(former, migrationsOf110);
    await former.execute(
      `insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'available', 0)`,
    );
    await run(former.url, dump);
    const added = await addBeside(await former.open(), async () => undefined);

    const store = await postgres.createEmptyStore(t);
    await run(store.url, restores['into an empty database']);
    await (await store.open()).close();
    assert.equal((await runInProcess(command, store.url)).code, 0);
    const database = await store.open();
    await sequenceEvents(database);
    const { next } = await readFeed(database, { start: 'now', limit: 1 }, everything);
    await expectSkipped(database, { ...added, kept: { id: 1n, position: next } });
  });

  for (const [release, create] of [
    ['this release', createThis],
    ['release 1.1.0', createOlder],
  ] as const)
    test(`repairs the wrong rows and sequences of a store of ${release}`, async (t) => {
      const store = await create(t);
      await store.execute(`
        insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'available', 0), ('Max', 2, 'sold', 0);
        insert into event_horizon (deleted_to) select deleted_to from event_horizon where ${release === 'release 1.1.0'};
        insert into inventory_totals (available, pending, sold)
          select 7, 7, 7 where ${release === 'release 1.1.0'};
        delete from inventory_by_category; delete from secrets; select setval('pets_id_seq', 1)`);
      await assert.rejects(store.open(), /docs\/operations\/backup-and-restore\.md/);
      await store.execute(repair);
      // The ids of an older store are repaired after its migration.
      await store.open().catch(() => store.execute(repair));
      const database = await store.open();
      const { id } = await add(database);
      assert.ok(id > 1_000_000n);
      const { asOfMs: _, ...counts } = await createInventory(database)(null);
      assert.deepEqual(counts, { available: 2n, pending: 0n, sold: 1n });
    });
});
