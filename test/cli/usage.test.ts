import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs } from '../../src/clock.ts';
import { createWorld, expectMistake } from '../support/command-line.ts';

/** Two accounts with requests on two days. */
async function openUsage(t: Parameters<typeof createWorld>[0]) {
  const world = await createWorld(t);
  for (const name of ['Zoo', '=Ark']) await world.print(['accounts', 'create', name, '--plan', 'free']);
  const today = world.clock.now() - (world.clock.now() % dayMs);
  world.execute(
    `insert into usage_hours values (1, ${today}, 5, 2, 1), (2, ${today}, 9, 0, 0), (1, ${today - dayMs}, 7, 0, 0)`,
  );
  return world;
}

test('usage --by day prints a row for each account and day, the newest day first', async (t) => {
  const { print } = await openUsage(t);
  const rows = (await print('usage --by day')).trimEnd().split('\n');
  assert.deepEqual(
    rows.map((row) => row.split(/ +/)),
    [
      ['DAY', 'ACCOUNT', 'REQUESTS', 'REFUSED', 'ERRORS'],
      ['2027-01-02', '=Ark', '9', '0', '0'],
      ['2027-01-02', 'Zoo', '5', '2', '1'],
      ['2027-01-01', 'Zoo', '7', '0', '0'],
    ],
  );
});

test('usage --by day takes an account and a range', async (t) => {
  const { readJson } = await openUsage(t);
  const day = { day: '2027-01-01', account: 'Zoo', requests: 7, refused: 0, errors: 0 };
  assert.deepEqual(await readJson('usage --by day --account Zoo --until 2027-01-02'), [day]);
  assert.deepEqual((await readJson('usage --by day --since 2027-01-02 --limit 1')).length, 1);
});

test('usage --csv prints rows that no spreadsheet runs as a formula', async (t) => {
  const { print } = await openUsage(t);
  assert.equal(
    await print('usage --by day --csv'),
    `day,account,requests,refused,errors
2027-01-02,'=Ark,9,0,0
2027-01-02,Zoo,5,2,1
2027-01-01,Zoo,7,0,0
`,
  );
  assert.equal(
    await print('usage --since 7d --csv --limit 1'),
    `account,requests,refused,errors\nZoo,12,2,1\n`,
  );
});

test('usage --by day --csv prints more rows than a page of the store has', async (t) => {
  const { print, execute } = await openUsage(t);
  execute(`insert into accounts (name, plan, created_at_ms)
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1500)
    select 'shop ' || n, 'free', 0 from numbers`);
  execute(`insert into usage_days select id, 0, 1, 0, 0 from accounts where name like 'shop %'`);
  const lines = (await print('usage --by day --csv --until 1970-01-02')).trimEnd().split('\n');
  assert.equal(new Set(lines).size, 1_501);
});

test('usage refuses options that do not fit together', async (t) => {
  const { run } = await openUsage(t);
  for (const [line, message] of [
    ['usage --account Zoo', /--account needs --by day/],
    ['usage --until 2027-01-02', /--until needs --by day/],
    ['usage --by day --csv --json', /--csv and --json exclude each other/],
    ['usage --by day --since 2027-01-02 --until 2027-01-02', /--until must be later than --since/],
  ] as const)
    expectMistake(await run(line), 2, message);
});
