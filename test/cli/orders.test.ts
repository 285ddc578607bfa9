import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorld, expectMistake } from '../support/command-line.ts';
import type { Ending } from '../support/service.ts';

const held = '9223372036854775806';

/** Creates a store with two orders of one account. The hold of the second order is overdue. */
async function createShop(t: Ending) {
  const world = await createWorld(t);
  await world.print('keys create --plan pro --account Zoo');
  world.execute(`insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'pending', 1), ('Mo', 1, 'pending', 1);
    insert into orders (id, account_id, pet_id, status, reference, created_at_ms, expires_at_ms) values
      (${held}, 1, 1, 'reserved', 'A-1', 0, 9000000000000), (8, 1, 2, 'reserved', null, 0, 1)`);
  return world;
}

test('orders list shows the orders of all accounts, newest first', async (t) => {
  const { print } = await createShop(t);
  const shown = await print('orders list');
  assert.match(shown, /^ID +ANIMAL +STATUS +ACCOUNT +REFERENCE/);
  assert.match(shown, /9223372036854775806 +1 +reserved +Zoo +A-1[\s\S]*\n8 +2 +expired +Zoo +- /);
});

test('orders list --json applies the filters and prints exact numbers', async (t) => {
  const { print, readJson } = await createShop(t);
  assert.match(
    await print('orders list --json'),
    /^\[\{"id":9223372036854775806,"petId":1,"status":"reserved","reference":"A-1",/,
  );
  for (const filter of ['--status reserved', '--pet 1', '--reference A-1', '--limit 1'])
    assert.equal((await readJson(`orders list ${filter}`)).length, 1, filter);
});

test('orders cancel cancels a reserved order, and refuses a closed one in one line', async (t) => {
  const { print, run } = await createShop(t);
  assert.equal(await print(`orders cancel ${held}`), `the order ${held} is cancelled\n`);
  assert.match(await print(`orders cancel ${held} --json`), /"status":"cancelled"/);
  const refusal = /^error: this order is expired: only a reserved order can be cancelled\n$/;
  expectMistake(await run('orders cancel 8'), 1, refusal);
});
