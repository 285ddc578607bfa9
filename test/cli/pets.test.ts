import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorld, expectMistake } from '../support/command-line.ts';
import type { Ending } from '../support/service.ts';

const rex = '9223372036854775806';

/** Creates a store with two animals. An order owns the second animal. */
async function createShop(t: Ending) {
  const world = await createWorld(t);
  await world.print('keys create --plan pro --account Zoo');
  world.execute(`insert into pets (id, name, category_id, status, is_owned) values
    (${rex}, 'Rex', 9223372036854775807, 'available', 0), (2, 'Mo', 1, 'pending', 1);
    insert into orders (account_id, pet_id, status, created_at_ms, expires_at_ms)
      values (1, 2, 'reserved', 0, 9000000000000)`);
  return world;
}

test('pets show, edit and delete print an animal with exact numbers, and change only the named fields', async (t) => {
  const { print, run } = await createShop(t);
  assert.equal(
    await print(`pets show ${rex}`),
    'id          9223372036854775806\nname        Rex\ncategoryId  9223372036854775807\nstatus      available\n',
  );
  assert.equal(await print('pets show 2 --json'), '{"id":2,"name":"Mo","categoryId":1,"status":"pending"}\n');
  assert.equal(
    await print(`pets edit ${rex} --name Max --category-id=-1 --json`),
    `{"id":${rex},"name":"Max","categoryId":-1,"status":"available"}\n`,
  );
  const shown = await print(`pets edit ${rex} --status sold`);
  assert.match(shown, /name +Max\ncategoryId +-1\nstatus +sold\n$/);
  assert.equal(await print(`pets delete ${rex}`), `the animal ${rex} is deleted\n`);
  expectMistake(await run(`pets delete ${rex}`), 1, new RegExp(`^error: there is no animal "${rex}"\n$`));
});

test('pets refuses to change the status of an animal that an order owns, or to delete it', async (t) => {
  const { print, run } = await createShop(t);
  for (const command of ['edit 2 --status sold', 'delete 2'])
    expectMistake(await run(`pets ${command}`), 1, /^error: an order owns this animal: /);
  await print('pets edit 2 --name Mia');
});
