import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { test } from 'node:test';
import { minuteMs } from '../../src/clock.ts';
import { createWorld, expectMistake } from '../support/command-line.ts';
import type { Ending } from '../support/service.ts';

const createdAt = '2027-01-02T12:00:00.000Z';

test('an account is created, renamed, suspended and resumed, each with a line of output', async (t) => {
  const { print, readJson } = await createWorld(t);
  assert.equal(await print('accounts create Zoo --plan pro'), 'Zoo is created on the plan pro\n');
  assert.equal(await print('accounts rename Zoo Ark'), 'Zoo is renamed to Ark\n');
  assert.equal(await print('accounts suspend Ark'), 'Ark is suspended\n');
  assert.match(await print('accounts list'), /\nArk {6}pro .* suspended$/m);
  assert.match(await print('accounts show Ark'), /^suspended {3}since 2027-01-02 12:00Z$/m);
  assert.equal(await print('accounts resume Ark'), 'Ark is active again\n');
  const own = { account: 'Own', plan: 'free', perMinute: 60, perDay: 1_000, openHolds: 5 };
  assert.deepEqual(await readJson('accounts create Own --plan free'), own);
});

test('accounts set-plan changes the limits that accounts list shows', async (t) => {
  const { print, readJson } = await createWorld(t);
  await print('keys create --plan free --account "Acme Zoo"');
  const own = '--plan enterprise --per-minute 7 --per-day 10';
  await print(`accounts set-plan "Acme Zoo" ${own} --open-holds 9`);
  assert.equal((await readJson('accounts list'))[0].openHolds, 9);
  await print(`accounts set-plan "Acme Zoo" ${own}`);
  assert.equal(
    await print('accounts list'),
    'ACCOUNT   PLAN        PER MINUTE  PER DAY  HOLDS MAX  KEYS  STATE\n' +
      'Acme Zoo  enterprise  7           10       100        1     active\n',
  );
  const moved = 'accounts set-plan "Acme Zoo" --plan pro';
  assert.equal(await print(moved), 'Acme Zoo is on the plan pro\n');
  const plan = { account: 'Acme Zoo', plan: 'pro', perMinute: 300, perDay: 10_000, openHolds: 25 };
  assert.deepEqual(await readJson(moved), plan);
  assert.deepEqual(await readJson('accounts list'), [{ ...plan, keys: 1, createdAt, suspendedAt: null }]);
});

/** Creates a store with a key that is rotated, and whose successor is revoked, a minute later. */
async function createHistory(t: Ending) {
  const world = await createWorld(t);
  const made = await world.readJson('keys create --plan free --account Zoo --name Till');
  world.clock.advance(minuteMs);
  const successor = await world.readJson(`keys rotate ${made.id}`);
  await world.print(`keys revoke ${successor.id}`);
  return { ...world, made, successor };
}

test('the audit log shows who changed which account and key', async (t) => {
  const { readJson, made, successor } = await createHistory(t);
  const log = await readJson('audit --account Zoo');
  const entries = log.map(({ action, subject }: Record<string, string>) => `${action} ${subject}`);
  assert.deepEqual(entries, [
    `key.revoked ${successor.id}`,
    `key.created ${successor.id}`,
    `key.rotated ${made.id}`,
    `key.created ${made.id}`,
    'account.created Zoo',
  ]);
  assert.deepEqual(log[0].by, { kind: 'command', name: userInfo().username });
  assert.equal(log[0].at, '2027-01-02T12:01:00.000Z');
  assert.equal(log[3].after.name, 'Till');
});

test('the audit log never shows a key', async (t) => {
  const { print, readJson, made } = await createHistory(t);
  const log = await readJson('audit --account Zoo');
  const shown = await print('audit');
  assert.match(shown, /^WHEN +WHO +DID +TO/);
  assert.ok(!`${shown}${JSON.stringify(log)}`.includes(made.key.slice(12)));
});

test('audit shows only the entries that its filters choose', async (t) => {
  const { readJson, made } = await createHistory(t);
  const counts = { [`--of ${made.id} --limit 1`]: 1, '--since 30s': 3, '--by nobody': 0 };
  for (const [filter, count] of Object.entries(counts))
    assert.equal((await readJson(`audit ${filter}`)).length, count, filter);
});

test('a banned key is listed with the end of its ban until the ban is lifted', async (t) => {
  const { print, readJson, execute } = await createWorld(t);
  const { id } = await readJson('keys create --plan free --account Zoo');
  const endsAtMs = Date.UTC(2027, 0, 2, 12, 30);
  execute(`insert into key_bans (key_id, banned_until_ms, last_ban_at_ms, last_ban_ms, refused_at_ms, forget_at_ms)
    values ('${id}', ${endsAtMs}, 0, 60000, '', ${endsAtMs})`);
  const until = '2027-01-02T12:30:00.000Z';
  assert.partialDeepStrictEqual((await readJson('bans list'))[0], { keyId: id, account: 'Zoo', until });
  const [key] = await readJson('keys list --account Zoo');
  assert.deepEqual([key.state, key.bannedUntil], ['banned', until]);
  assert.match(await print('keys list'), /banned until 2027-01-02 12:30Z/);
  assert.equal(await print(`bans lift ${id}`), `the ban of ${id} is lifted\n`);
  assert.deepEqual(await readJson('bans list'), []);
  assert.equal((await readJson('keys list'))[0].state, 'active');
  assert.equal((await readJson('audit --action ban.lifted'))[0].subject, id);
});

test('accounts show lists the newest keys of an account and reports that there are more', async (t) => {
  const { print, readJson, execute } = await createWorld(t);
  await print('keys create --plan free --account Zoo');
  assert.doesNotMatch(await print('accounts show Zoo'), /the newest/);
  execute(`insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 50)
    select 'key_' || n, 1, randomblob(32), 'as_dev_', 'pets:read', 2000000000000 + n from numbers`);
  const more = /^\(the newest 50 of 51; to list all: keys list --account "Zoo"\)$/m;
  assert.match(await print('accounts show Zoo'), more);
  const { keys, keysTotal } = await readJson('accounts show Zoo');
  assert.deepEqual([keys.length, keys[0].id, keys[49].id, keysTotal], [50, 'key_1', 'key_50', 51]);
});

test('accounts show prints the rate limit windows, keys, open holds and usage of an account', async (t) => {
  const { print, readJson, execute, clock } = await createWorld(t);
  const { id } = await readJson('keys create --plan free --account Zoo');
  const nowMs = clock.now();
  execute(`insert into usage_windows values ('account:1', 7, ${nowMs + 30_000}, 90, ${nowMs + 3_600_000});
    insert into usage_hours values (1, ${nowMs - 3_600_000}, 100, 3, 2), (1, ${nowMs}, 10, 0, 1)`);
  const shown = await print('accounts show Zoo');
  for (const line of [
    /^plan {8}free: 60 a minute, 1000 a day$/m,
    /^minute {6}7 of 60 used, 53 left, resets at 2027-01-02T12:00:30Z$/m,
    /^day {9}90 of 1000 used, 910 left, resets at 2027-01-02T13:00:00Z$/m,
    /^open holds {2}0 of 5$/m,
    /^last day {4}110 requests, 3 refused by a limit, 3 with another error$/m,
    new RegExp(`^${id} `, 'm'),
    /^2027-01-02 11:00Z {2}100 +3 +2$/m,
  ])
    assert.match(shown, line);
  const found = await readJson('accounts show Zoo');
  assert.partialDeepStrictEqual(found, {
    minute: { limit: 60, used: 7, remaining: 53, resetAt: '2027-01-02T12:00:30.000Z' },
    openHolds: { limit: 5, open: 0 },
    lastDay: { requests: 110, refusals: 3, errors: 3 },
  });
  assert.partialDeepStrictEqual(found.hours, [
    { from: '2027-01-02T11:00:00.000Z', requests: 100 },
    { from: '2027-01-02T12:00:00.000Z', requests: 10 },
  ]);
  assert.equal(found.hours.length, 2);
});

test('every table fits 80 columns', async (t) => {
  const { print, execute } = await createWorld(t);
  await print('keys create --plan enterprise --per-minute 1000000 --per-day 100000000');
  await print('keys create --plan free --account "A zoo with a longer name" --name Warehouse');
  await print('accounts suspend "A zoo with a longer name"');
  execute(`insert into orders (account_id, pet_id, status, reference, created_at_ms, expires_at_ms, closed_at_ms)
    values (2, 9223372036854775807, 'completed', 'a reference of some length', 0, 0, 0)`);
  for (const command of ['keys list', 'accounts list', 'bans list', 'audit', 'orders list'])
    assert.doesNotMatch(await print(command), /.{81}/, command);
});

const deletion = 'accounts delete Zoo --confirm Zoo --keep-days 30';

test('accounts delete prints what it ended', async (t) => {
  const { print, readJson } = await createWorld(t);
  await print('keys create --plan free --account Zoo');
  const ended = 'revoked keys: 1, deleted webhooks: 0, cancelled holds: 0';
  assert.equal(await print(deletion), `Zoo is deleted; ${ended}\n`);
  assert.deepEqual([await readJson('accounts list'), await readJson('keys list')], [[], []]);
});

test('accounts delete refuses a deleted account', async (t) => {
  const { print, run } = await createWorld(t);
  await print('accounts create Zoo --plan free');
  await print(deletion);
  expectMistake(await run(deletion), 1, /^error: there is no account "Zoo"/);
});
