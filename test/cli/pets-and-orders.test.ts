import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePet, petInputs } from '../../src/pets/pet.ts';
import { createWorld, expectMistake } from '../support/command-line.ts';
import type { Ending } from '../support/service.ts';

const held = '9223372036854775806';
const rex = '9223372036854775807';

/** Creates a store with two orders of one account, of which the second is overdue, and an animal without an order. */
async function createShop(t: Ending) {
  const world = await createWorld(t);
  await world.print('keys create --plan pro --account Zoo');
  world.execute(`insert into pets (id, name, category_id, status, is_owned) values (1, 'Mo', 1, 'pending', 1),
      (2, 'Bo', 1, 'pending', 1), (${rex}, 'Rex', 9223372036854775807, 'available', 0);
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

test('orders list --json prints exact numbers', async (t) => {
  const { print } = await createShop(t);
  const exact = /^\[\{"id":9223372036854775806,"petId":1,"status":"reserved","reference":"A-1",/;
  assert.match(await print('orders list --json'), exact);
});

test('orders list shows only the orders that its filters choose', async (t) => {
  const { readJson } = await createShop(t);
  for (const filter of ['--status reserved', '--pet 1', '--reference A-1', '--limit 1'])
    assert.equal((await readJson(`orders list ${filter}`)).length, 1, filter);
});

test('orders cancel cancels a reserved order', async (t) => {
  const { print } = await createShop(t);
  assert.equal(await print(`orders cancel ${held}`), `the order ${held} is cancelled\n`);
  assert.match(await print(`orders cancel ${held} --json`), /"status":"cancelled"/);
});

test('orders cancel refuses a closed order in one line', async (t) => {
  const { run } = await createShop(t);
  const refusal = /^error: this order is expired: only a reserved order can be cancelled\n$/;
  expectMistake(await run('orders cancel 8'), 1, refusal);
});

test('orders show prints an order with its animal and its account', async (t) => {
  const { print } = await createShop(t);
  const shown = await print(`orders show ${held}`);
  assert.match(
    shown,
    new RegExp(`^order +${held}\nstatus +reserved\nanimal +1 \\(Mo, pending\\)\naccount +Zoo\n`),
  );
  assert.match(
    shown,
    /\nreference +A-1\nplaced +1970-01-01T00:00:00.000Z\nhold ends +2255-03-14T16:00:00.000Z\n/,
  );
});

test('orders show names a deleted animal', async (t) => {
  const { print, execute } = await createShop(t);
  execute('delete from pets where id = 2');
  assert.match(await print('orders show 8'), /\nanimal +2 \(deleted\)\n/);
});

test('orders show and orders return refuse an order that is not there', async (t) => {
  const { run } = await createShop(t);
  for (const command of ['show', 'return'])
    expectMistake(await run(`orders ${command} 9`), 1, /^error: there is no order "9": see "orders list"\n$/);
});

test('orders return returns a completed order', async (t) => {
  const { print, execute } = await createShop(t);
  execute(`update orders set status = 'completed', closed_at_ms = 1 where id = ${held};
    update pets set status = 'sold' where id = 1`);
  assert.equal(await print(`orders return ${held}`), `the order ${held} is returned\n`);
  assert.match(await print('pets show 1'), /status +pending\n$/);
});

test('orders return refuses an order that is not completed', async (t) => {
  const { run } = await createShop(t);
  const refusal = /^error: this order is reserved: only a completed order can be returned\n$/;
  expectMistake(await run(`orders return ${held}`), 1, refusal);
});

const columns = 'id,petId,status,reference,createdAt,expiresAt,closedAt,account';
const [heldRow, overdueRow] = [
  `${held},1,reserved,A-1,1970-01-01T00:00:00.000Z,2255-03-14T16:00:00.000Z,,Zoo`,
  '8,2,expired,,1970-01-01T00:00:00.000Z,1970-01-01T00:00:00.001Z,1970-01-01T00:00:00.001Z,Zoo',
];

test('orders export writes all orders with exact values, newest first', async (t) => {
  const { print, execute } = await createShop(t);
  assert.equal(await print('orders export --format csv'), [columns, heldRow, overdueRow, ''].join('\n'));
  const listed = (await print('orders list --json')).replace(/^\[|\]$/gm, '').replace('},{', '}\n{');
  assert.equal(await print('orders export'), listed);
  execute(`with recursive n(i) as (select 10 union all select i + 1 from n where i < 2509)
    insert into orders (id, account_id, pet_id, status, created_at_ms, expires_at_ms, closed_at_ms)
      select i, 1, 1, 'cancelled', 0, 1, 1 from n`);
  assert.equal((await print('orders export')).split('\n').length, 2_503);
});

test('orders export takes an account and a time', async (t) => {
  const { folder, print, execute, readJson } = await createShop(t);
  await print('accounts create Other --plan free');
  execute(`insert into orders (id, account_id, pet_id, status, created_at_ms, expires_at_ms, closed_at_ms) values
    (9, 1, 1, 'cancelled', ${Date.UTC(2026, 11, 31, 23, 59, 59, 999)}, 1, 1),
    (10, 1, 1, 'cancelled', ${Date.UTC(2027, 0, 1)}, 1, 1), (11, 2, 1, 'cancelled', ${Date.UTC(2027, 0, 1)}, 1, 1)`);
  const exported = async (options: string) => {
    const lines = (await print(`orders export ${options}`)).split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line).id);
  };
  assert.deepEqual(await exported('--account Other'), [11]);
  assert.deepEqual(await exported('--since 2027-01-01'), [11, 10]);
  assert.deepEqual(await exported('--since 36h'), [11, 10]);
  assert.deepEqual(await exported('--account Zoo --since 2026-12-31 --until 2027-01-01T00:00Z'), [9]);
  assert.deepEqual(await exported('--account Zoo --until 2026-12-31T23:59:59.999Z'), [Number(held), 8]);
  const output = `${folder}/orders.csv`;
  const told = await readJson(`orders export --output ${output} --since 2027-01-01`);
  assert.deepEqual(told, { exported: 2, file: output });
  const [entry] = await readJson('audit --action orders.exported --limit 1');
  assert.partialDeepStrictEqual(entry, { subject: output, after: { exported: 2 } });
});

test('pets show prints an animal with exact numbers', async (t) => {
  const { print } = await createShop(t);
  const shown = `id          ${rex}\nname        Rex\ncategoryId  9223372036854775807\nstatus      available\n`;
  assert.equal(await print(`pets show ${rex}`), shown);
  assert.equal(await print('pets show 1 --json'), '{"id":1,"name":"Mo","categoryId":1,"status":"pending"}\n');
});

test('pets edit changes only the named fields', async (t) => {
  const { print } = await createShop(t);
  const edited = `{"id":${rex},"name":"Max","categoryId":-1,"status":"available"}\n`;
  assert.equal(await print(`pets edit ${rex} --name Max --category-id=-1 --json`), edited);
  const sold = /name +Max\ncategoryId +-1\nstatus +sold\n$/;
  assert.match(await print(`pets edit ${rex} --status sold`), sold);
});

for (const { field, label } of petInputs.filter(({ isRemovable }) => isRemovable))
  test(`pets edit removes the ${label} of an animal`, async (t) => {
    const { readJson } = await createShop(t);
    const flag = label.replaceAll(' ', '-');
    const before = await readJson('pets show 1');
    const edited = await readJson(`pets edit 1 --${flag} ${examplePet[field]}`);
    assert.deepEqual(edited, { ...before, [field]: examplePet[field] });
    assert.deepEqual(await readJson(`pets edit 1 --no-${flag}`), before);
  });

test('pets delete deletes an animal once', async (t) => {
  const { print, run } = await createShop(t);
  assert.equal(await print(`pets delete ${rex}`), `the animal ${rex} is deleted\n`);
  expectMistake(await run(`pets delete ${rex}`), 1, new RegExp(`^error: there is no animal "${rex}"\n$`));
});

test('pets refuses to change the status of an animal that an order owns, or to delete it', async (t) => {
  const { print, run } = await createShop(t);
  for (const command of ['edit 1 --status sold', 'delete 1'])
    expectMistake(await run(`pets ${command}`), 1, /^error: an order owns this animal: /);
  await print('pets edit 1 --name Mia');
});
