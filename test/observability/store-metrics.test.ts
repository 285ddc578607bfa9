import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { selectAnyAccount } from '../../src/accounts/account-rows.ts';
import { createStoreMetrics, watchCalls } from '../../src/observability/store-calls.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { addAndThrow, doNothing } from '../contracts/works.ts';
import { petValues } from '../support/catalogue.ts';
import { testThread } from '../support/engines.ts';
import { makeFolder } from '../support/service.ts';

async function openTimed(test: TestContext) {
  const registry = new Registry();
  const opened = await openDatabase(`sqlite:${join(await makeFolder(test), 'store.db')}`, testThread);
  test.after(() => opened.close());
  const database = watchCalls(opened, [createStoreMetrics(registry)]);
  return { database, show: () => registry.metrics() };
}

test('reads and writes of the store are measured separately', async (t) => {
  const { database, show } = await openTimed(t);
  await database.read(selectAnyAccount, { count: 1n });
  await database.read(selectAnyAccount, { count: 1n });
  await database.run(insertPet, petValues({ name: 'Rex', categoryId: 1n, status: 'available' }));
  await database.transact(doNothing, null);

  const shown = await show();
  assert.match(shown, /store_duration_seconds_count\{call="read"\} 2$/m);
  assert.match(shown, /store_duration_seconds_count\{call="write"\} 2$/m);
  assert.match(shown, /store_failures_total\{call="read"\} 0$/m);
});

test('a call that fails because the store is unavailable is counted, and rejects with the same error', async (t) => {
  const { database, show } = await openTimed(t);
  await database.close();
  await assert.rejects(database.read(selectAnyAccount, { count: 1n }), { code: 'unavailable' });
  const add = database.run(insertPet, petValues({ name: 'Rex', categoryId: 1n, status: 'available' }));
  await assert.rejects(add, { code: 'unavailable' });

  const shown = await show();
  assert.match(shown, /store_failures_total\{call="read"\} 1$/m);
  assert.match(shown, /store_failures_total\{call="write"\} 1$/m);
});

test('a failed readNow is counted, but its duration is not measured', async (t) => {
  const { database, show } = await openTimed(t);
  const readNow = database.readNow ?? assert.fail();
  readNow(selectAnyAccount, { count: 1n });
  await database.close();
  assert.throws(() => readNow(selectAnyAccount, { count: 1n }), { code: 'unavailable' });

  const shown = await show();
  assert.match(shown, /store_failures_total\{call="read"\} 1$/m);
  assert.match(shown, /store_duration_seconds_count\{call="read"\} 0$/m);
});

test('a transaction that throws its own error is not a failure of the store', async (t) => {
  const { database, show } = await openTimed(t);
  const givesUp = database.transact(addAndThrow, {
    subject: 'a',
    used: 1n,
    name: 'Error',
    message: 'no',
  });
  await assert.rejects(givesUp, /no/);
  assert.match(await show(), /store_failures_total\{call="write"\} 0$/m);
});
