import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { insertAccount } from '../../src/accounts/account-rows.ts';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import { createStamps } from '../../src/pets/stamps.ts';
import type { Database } from '../../src/storage/database.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { makeFolder } from '../support/service.ts';

test('each reading is the same stamp while the store holds the same, and another once it does not', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openDatabase(`sqlite:${path}`);
  t.after(() => database.close());
  const stamps = createStamps(database);
  const file = new DatabaseSync(path);
  t.after(() => file.close());

  const empty = stamps.read();
  assert.deepEqual(empty, { newestId: 0n, edits: 0n });
  assert.equal(stamps.read(), empty);

  file.exec("insert into pets (name, category_id, status) values ('Rex', 1, 'available')");
  const added = stamps.read();
  assert.equal(added?.newestId, 1n);
  assert.equal(stamps.read(), added);

  file.exec("update pets set name = 'Max'");
  const edited = stamps.read();
  assert.equal(edited?.newestId, 1n);
  assert.notEqual(edited?.edits, added?.edits);
  assert.equal(stamps.read(), edited);
});

test('an add that is answered is in every reading from then on', async (t) => {
  const database = await openDatabase(`sqlite:${join(await makeFolder(t), 'store.db')}`);
  t.after(() => database.close());
  const { add, stamps } = createCatalogue(database, Date.now);
  const idempotency = { accountId: 1n, key: 'k', bodyHash: new Uint8Array(32) };
  const account = { name: 'a', plan: 'free', perMinute: null, perDay: null, createdAtMs: 0n };
  await database.run(insertAccount, account);
  for (const [newestId, key] of [
    [1n, null],
    [2n, idempotency],
  ] as const) {
    stamps.openTurn();
    assert.equal(stamps.read()?.newestId, newestId - 1n);
    await add({ name: 'Max', categoryId: 1n }, key);
    assert.equal(stamps.read()?.newestId, newestId);
  }
});

test('a range that ends at an id that was given is fresh after an add, and no range is after an edit', () => {
  const { isFresh } = createStamps({ readNow: null } as unknown as Database);
  const since = { newestId: 9n, edits: 0n };
  const added = { newestId: 10n, edits: 0n };
  assert.equal(isFresh({ newestId: 9n, oldestId: 1n }, since, added), true);
  assert.equal(isFresh({ newestId: null, oldestId: 1n }, since, added), false);
  // A store that was put back to an earlier state may have a cursor for an id that is still to come.
  assert.equal(isFresh({ newestId: 10n, oldestId: 1n }, since, added), false);
  assert.equal(isFresh({ newestId: 5n, oldestId: 5n }, since, { newestId: 9n, edits: 1n }), false);
});
