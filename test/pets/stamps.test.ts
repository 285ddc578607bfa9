import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { insertAccount } from '../../src/accounts/account-rows.ts';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import { createStamps } from '../../src/pets/stamps.ts';
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

test('an add that is answered in a turn is in the readings of that turn from then on', async (t) => {
  const database = await openDatabase(`sqlite:${join(await makeFolder(t), 'store.db')}`);
  t.after(() => database.close());
  const { add, stamps } = createCatalogue(database, Date.now);
  const idempotency = { accountId: 1n, key: 'k', bodyHash: new Uint8Array(32) };
  const account = { name: 'a', plan: 'free', perMinute: null, perDay: null, createdAtMs: 0n };
  await database.run(insertAccount, account);
  await add({ name: 'Rex', categoryId: 1n }, null);
  for (const [newestId, key] of [
    [2n, null],
    [3n, idempotency],
  ] as const) {
    // Each turn has a reading from before the answer, which may come in that turn.
    let isAnswered = false;
    setImmediate(function readInTurn() {
      if (isAnswered) return;
      stamps.openTurn();
      stamps.read();
      setImmediate(readInTurn);
    });
    await add({ name: 'Max', categoryId: 1n }, key);
    assert.equal(stamps.read()?.newestId, newestId);
    isAnswered = true;
  }
});
