import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
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
