import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyUses } from '../../src/accounts/key-uses.ts';
import type { Database } from '../../src/storage/database.ts';
import { sqliteEngine } from '../support/engines.ts';

test('a flush of key uses waits for an earlier flush that is still writing', async (t) => {
  const store = await sqliteEngine.createStore(t);
  const database = await store.open();
  const opened = Promise.withResolvers<void>();
  const transact: Database['transact'] = async (work, input) => {
    await opened.promise;
    return await database.transact(work, input);
  };
  const uses = createKeyUses({ ...database, transact });
  const settled: string[] = [];
  uses.note('key_1', 60_000);
  const earlier = uses.flush().then(() => settled.push('earlier'));
  const last = uses.flush().then(() => settled.push('last'));
  await new Promise(setImmediate);
  assert.deepEqual(settled, []);
  opened.resolve();
  await Promise.all([earlier, last]);
  assert.deepEqual(settled, ['earlier', 'last']);
});
