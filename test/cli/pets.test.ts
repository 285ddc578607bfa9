import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Ending, makeFolder } from '../support/service.ts';
import { runInProcess } from './run-command-line.ts';

/** Creates a store with two animals. An order owns the second animal. */
async function makeStore(t: Ending) {
  const path = join(await makeFolder(t), 'store.db');
  const url = `sqlite:${path}`;
  await runInProcess(['migrate'], url);
  await runInProcess(['keys', 'create', '--plan', 'pro', '--account', 'Zoo'], url);
  const file = new DatabaseSync(path);
  file.exec(`insert into pets (id, name, category_id, status, is_owned) values
    (9223372036854775806, 'Rex', 9223372036854775807, 'available', 0), (2, 'Mo', 1, 'pending', 1);
    insert into orders (account_id, pet_id, status, created_at_ms, expires_at_ms)
      values (1, 2, 'reserved', 0, 9000000000000)`);
  file.close();
  return { run: (...args: string[]) => runInProcess(['pets', ...args], url) };
}

const rex = '9223372036854775806';

test('pets show prints an animal with exact numbers', async (t) => {
  const { run } = await makeStore(t);
  assert.equal(
    (await run('show', rex)).stdout,
    'id          9223372036854775806\nname        Rex\ncategoryId  9223372036854775807\nstatus      available\n',
  );
  assert.equal(
    (await run('show', '2', '--json')).stdout,
    '{"id":2,"name":"Mo","categoryId":1,"status":"pending"}\n',
  );
});

test('pets edit changes only the named fields', async (t) => {
  const { run } = await makeStore(t);
  const { stdout } = await run('edit', rex, '--name', 'Max', '--category-id=-1', '--json');
  assert.equal(stdout, `{"id":${rex},"name":"Max","categoryId":-1,"status":"available"}\n`);
  assert.match(
    (await run('edit', rex, '--status', 'sold')).stdout,
    /name +Max\ncategoryId +-1\nstatus +sold\n$/,
  );
});

test('pets delete deletes an animal once', async (t) => {
  const { run } = await makeStore(t);
  assert.equal((await run('delete', rex)).stdout, `the animal ${rex} is deleted\n`);
  const again = await run('delete', rex);
  assert.deepEqual([again.code, again.stderr], [1, `error: there is no animal "${rex}"\n`]);
});

test('pets refuses to change the status of an animal that an order owns, or to delete it', async (t) => {
  const { run } = await makeStore(t);
  for (const args of [
    ['edit', '2', '--status', 'sold'],
    ['delete', '2'],
  ]) {
    const { code, stdout, stderr } = await run(...args);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^error: an order owns this animal: .*\n$/);
  }
  assert.equal((await run('edit', '2', '--name', 'Mia')).code, 0);
});

test('pets prints an error in one line', async (t) => {
  const { run } = await makeStore(t);
  for (const [args, code, message] of [
    [['show', '7'], 1, /there is no animal "7"/],
    [['edit', '7', '--name', 'Max'], 1, /there is no animal "7"/],
    [['show', '007'], 2, /must be an id in decimal digits/],
    [['edit', rex], 2, /nothing to change: name at least one of/],
    [['edit', rex, '--name', ' '], 2, /name must be a string of 1 to 255 characters/],
    [['edit', rex, '--category-id', '1.5'], 2, /must be a whole number from -9223372036854775808/],
    [['edit', rex, '--status', 'lost'], 2, /status/],
  ] as const) {
    const result = await run(...args);
    assert.deepEqual([result.code, result.stdout], [code, ''], args.join(' '));
    assert.match(result.stderr, message);
    assert.equal(result.stderr.trimEnd().split('\n').length, 1);
  }
});
