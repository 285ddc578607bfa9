import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Ending, makeFolder } from '../support/service.ts';
import { runInProcess } from './run-command-line.ts';

/** Creates a store with two orders of one account. The hold of the second order is overdue. */
async function makeStore(t: Ending) {
  const path = join(await makeFolder(t), 'store.db');
  const url = `sqlite:${path}`;
  await runInProcess(['migrate'], url);
  await runInProcess(['keys', 'create', '--plan', 'pro', '--account', 'Zoo'], url);
  const file = new DatabaseSync(path);
  file.exec(`insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'pending', 1), ('Mo', 1, 'pending', 1);
    insert into orders (id, account_id, pet_id, status, reference, created_at_ms, expires_at_ms) values
      (9223372036854775806, 1, 1, 'reserved', 'A-1', 0, 9000000000000), (8, 1, 2, 'reserved', null, 0, 1)`);
  file.close();
  return { run: (...args: string[]) => runInProcess(['orders', ...args], url) };
}

test('orders list shows the orders of all accounts, newest first', async (t) => {
  const { run } = await makeStore(t);
  const { stdout } = await run('list');
  assert.match(stdout, /^ID +ANIMAL +STATUS +ACCOUNT +REFERENCE/);
  assert.match(stdout, /9223372036854775806 +1 +reserved +Zoo +A-1[\s\S]*\n8 +2 +expired +Zoo +- /);
});

test('orders list --json applies the filters and prints exact numbers', async (t) => {
  const { run } = await makeStore(t);
  const all = (await run('list', '--json')).stdout;
  assert.match(all, /^\[\{"id":9223372036854775806,"petId":1,"status":"reserved","reference":"A-1",/);
  for (const filter of [
    ['--status', 'reserved'],
    ['--pet', '1'],
    ['--reference', 'A-1'],
    ['--limit', '1'],
  ])
    assert.equal(JSON.parse((await run('list', '--json', ...filter)).stdout).length, 1, filter.join(' '));
});

test('orders cancel cancels a reserved order', async (t) => {
  const { run } = await makeStore(t);
  const id = '9223372036854775806';
  assert.deepEqual(await run('cancel', id), {
    code: 0,
    stdout: `the order ${id} is cancelled\n`,
    stderr: '',
  });
  assert.match((await run('cancel', id, '--json')).stdout, /"status":"cancelled"/);
});

test('orders cancel refuses a closed order in one line', async (t) => {
  const { run } = await makeStore(t);
  const { code, stdout, stderr } = await run('cancel', '8');
  assert.deepEqual([code, stdout], [1, '']);
  assert.equal(stderr, 'error: this order is expired: only a reserved order can be cancelled\n');
});

test('orders with an invalid option is a usage error', async (t) => {
  const { run } = await makeStore(t);
  for (const args of [
    ['list', '--status', 'open'],
    ['list', '--pet', '007'],
    ['list', '--limit', '0'],
    ['list', '--reference', ' '],
    ['cancel', 'x'],
    ['cancel'],
  ])
    assert.equal((await run(...args)).code, 2, args.join(' '));
});

test('only an enterprise account can have its own limit of open holds', async (t) => {
  const url = `sqlite:${join(await makeFolder(t), 'store.db')}`;
  const enterprise = ['--plan', 'enterprise', '--per-minute', '5', '--per-day', '50', '--open-holds', '7'];
  await runInProcess(['migrate'], url);
  await runInProcess(['keys', 'create', '--account', 'Zoo', ...enterprise], url);
  const holds = async () =>
    JSON.parse((await runInProcess(['accounts', 'list', '--json'], url)).stdout)[0].openHolds;
  assert.equal(await holds(), 7);
  await runInProcess(['accounts', 'set-plan', 'Zoo', '--plan', 'pro'], url);
  assert.equal(await holds(), 25);
  await runInProcess(['accounts', 'set-plan', 'Zoo', ...enterprise.slice(0, -2)], url);
  assert.equal(await holds(), 100);
  const wrong = await runInProcess(
    ['accounts', 'set-plan', 'Zoo', '--plan', 'pro', '--open-holds', '7'],
    url,
  );
  assert.equal(wrong.code, 2);
});
