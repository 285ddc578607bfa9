import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { insertAccount } from '../../src/accounts/account-rows.ts';
import { expireEvents } from '../../src/events/expire-events.ts';
import { createFirstAnswers } from '../../src/idempotency/first-answers.ts';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import type { PetSelection } from '../../src/pets/pet-selection.ts';
import { createStamps } from '../../src/pets/stamps.ts';
import type { Database } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { makeFolder } from '../support/service.ts';

test('each read returns the same stamp until the store changes', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openDatabase(`sqlite:${path}`);
  t.after(() => database.close());
  const stamps = createStamps(database);
  const file = new DatabaseSync(path);
  t.after(() => file.close());

  const empty = stamps.latest();
  assert.deepEqual(empty, { newestId: 0n, newestEdit: 0n, era: 0 });
  assert.equal(stamps.latest(), empty);

  file.exec("insert into pets (name, category_id, status) values ('Rex', 1, 'available')");
  const added = stamps.latest();
  assert.equal(added?.newestId, 1n);
  assert.equal(stamps.latest(), added);

  file.exec("update pets set name = 'Max'");
  const edited = stamps.latest();
  assert.equal(edited?.newestId, 1n);
  assert.notEqual(edited?.newestEdit, added?.newestEdit);
  assert.equal(stamps.latest(), edited);
});

test('every stamp that is read after an answered add includes the add', async (t) => {
  const database = await openDatabase(`sqlite:${join(await makeFolder(t), 'store.db')}`);
  t.after(() => database.close());
  const { add, addOnce, stamps } = createCatalogue(database, createFirstAnswers(database, Date.now));
  const once = {
    accountId: 1n,
    keyHash: new Uint8Array(32),
    operation: 'createPet',
    bodyHash: new Uint8Array(32),
  };
  const rex = { name: 'Max', categoryId: 1n };
  const account = {
    name: 'a',
    plan: 'free',
    perMinute: null,
    perDay: null,
    openHolds: null,
    createdAtMs: 0n,
  };
  await database.run(insertAccount, account);
  for (const [newestId, act] of [
    [1n, () => add(rex)],
    [2n, () => addOnce(rex, once, '/pets/')],
  ] as const) {
    stamps.openTurn();
    assert.equal(stamps.latest()?.newestId, newestId - 1n);
    await act();
    assert.equal(stamps.latest()?.newestId, newestId);
  }
});

test('an added animal does not make an answer stale if the animal is newer than the newest possible id of the answer', () => {
  const { isFresh } = createStamps({ readNow: () => [] } as unknown as Database);
  const since = { newestId: 9n, newestEdit: 0n, era: 0 };
  const added = { newestId: 10n, newestEdit: 0n, era: 0 };
  assert.equal(isFresh({ newestId: 9n, oldestId: 1n }, since, added), true);
  assert.equal(isFresh({ newestId: null, oldestId: 1n }, since, added), false);
  // After a restore, a client may have a cursor for an id that the store has not assigned yet.
  assert.equal(isFresh({ newestId: 10n, oldestId: 1n }, since, added), false);
});

test('an edit makes only answers stale that contain the animal before or after the edit', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openDatabase(`sqlite:${path}`);
  t.after(() => database.close());
  const file = new DatabaseSync(path);
  t.after(() => file.close());
  for (let added = 0; added < 9; added += 1)
    file.exec("insert into pets (name, category_id, status) values ('Rex', 1, 'available')");
  const { latest: read, isFresh } = createStamps(database);
  const since = read() ?? assert.fail();
  file.exec("update pets set status = 'sold' where id = 5");
  const now = read() ?? assert.fail();
  const fresh = (selection: PetSelection) => isFresh(selection, since, now);
  assert.equal(fresh({ newestId: 5n, oldestId: 5n }), false);
  assert.equal(fresh({ newestId: null, oldestId: null }), false);
  assert.equal(fresh({ newestId: 9n, oldestId: 1n, status: 'available' }), false);
  assert.equal(fresh({ newestId: 9n, oldestId: 1n, status: 'sold', categoryId: 1n }), false);
  assert.equal(fresh({ newestId: 9n, oldestId: 6n }), true);
  assert.equal(fresh({ newestId: 4n, oldestId: null }), true);
  assert.equal(fresh({ newestId: 9n, oldestId: 1n, status: 'pending' }), true);
  assert.equal(fresh({ newestId: 9n, oldestId: 1n, categoryId: 2n }), true);
});

test('more edits than are stored make every answer stale, and so does a restore', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openDatabase(`sqlite:${path}`);
  t.after(() => database.close());
  const file = new DatabaseSync(path);
  t.after(() => file.close());
  file.exec(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1001)
    insert into pets (name, category_id, status) select 'Rex', 1, 'available' from numbers`);
  const { latest: read, isFresh } = createStamps(database);
  const unknown = { newestId: 2_000n, oldestId: 2_000n };
  const first = read() ?? assert.fail();
  file.exec("update pets set name = 'Max'");
  const second = read() ?? assert.fail();
  assert.equal(isFresh(unknown, first, second), false);
  file.exec("update pets set name = 'Tom' where id = 1");
  const third = read() ?? assert.fail();
  assert.equal(isFresh(unknown, second, third), true);
  file.exec('delete from events where id > 2000');
  assert.equal(isFresh(unknown, third, read() ?? assert.fail()), false);
});

test('every answer becomes stale if an edit since the last read has expired', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openDatabase(`sqlite:${path}`);
  t.after(() => database.close());
  const file = new DatabaseSync(path);
  t.after(() => file.close());
  for (let added = 0; added < 2; added += 1)
    file.exec("insert into pets (name, category_id, status) values ('Rex', 1, 'available')");
  const { latest: read, isFresh } = createStamps(database);
  const since = read() ?? assert.fail();
  file.exec("update pets set name = 'Max' where id = 1");
  file.exec('update events set at_ms = 0');
  await expireEvents(database);
  file.exec("update pets set name = 'Tom' where id = 2");
  assert.equal(isFresh({ newestId: 1n, oldestId: 1n }, since, read() ?? assert.fail()), false);
});
