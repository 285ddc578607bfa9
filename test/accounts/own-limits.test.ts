import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyVerifier, freshMs } from '../../src/accounts/key-verifier.ts';
import { dayMs, hourMs } from '../../src/clock.ts';
import { createCorrectionFollower } from '../../src/limits/corrections.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import type { Database } from '../../src/storage/database.ts';
import { createUsageCounts, listUsageByAccount, type UsageOrder } from '../../src/usage/usage.ts';
import { createWorld as createCommandWorld } from '../support/command-line.ts';
import { describeOnEngines } from '../support/engines.ts';
import { createWorld, fieldOf, makePlan, order } from './world.ts';

await describeOnEngines('the own limits of an account', (engine) => {
  test('apply on any plan until their end or set-plan', async (t) => {
    const { keyring, accounts, database, clock } = await createWorld(t, engine);
    const { key } = await keyring.issue(order({ account: 'Zoo', plan: makePlan('pro') }));
    const verifier = createKeyVerifier(database, clock.now);
    const readLimits = async () => {
      clock.advance(freshMs);
      const found = await verifier.verifyAgain(key);
      return 'caller' in found ? found.caller.limits : null;
    };
    const own = { perMinute: 7, perDay: 9 };
    await accounts.setLimits('Zoo', own, clock.now() + hourMs);
    assert.deepEqual(await readLimits(), own);
    assert.deepEqual((await accounts.find('Zoo')).limits, own);
    clock.advance(hourMs);
    assert.deepEqual(await readLimits(), { perMinute: 300, perDay: 10_000 });
    assert.equal((await accounts.find('Zoo')).ownLimits, null);
    await accounts.setLimits('Zoo', own, null);
    assert.deepEqual(await readLimits(), own);
    await accounts.setPlan('Zoo', makePlan('free'));
    assert.deepEqual(await readLimits(), { perMinute: 60, perDay: 1_000 });
    await assert.rejects(accounts.setLimits('Ark', own, null), { name: 'OperatorError' });
  });

  test('one number alone keeps the other number', async (t) => {
    const { accounts } = await createWorld(t, engine);
    await accounts.create('Zoo', makePlan('pro'));
    const { limits } = await accounts.setLimits('Zoo', { perMinute: 7 });
    assert.deepEqual(limits, { perMinute: 7, perDay: 10_000 });
    await accounts.setLimits('Zoo', { perDay: 9 });
    assert.deepEqual((await accounts.find('Zoo')).limits, { perMinute: 7, perDay: 9 });
  });

  test('one number alone keeps the end, which both numbers remove', async (t) => {
    const { accounts, clock } = await createWorld(t, engine);
    await accounts.create('Zoo', makePlan('pro'));
    const untilMs = clock.now() + hourMs;
    await accounts.setLimits('Zoo', { perMinute: 7, perDay: 9 }, untilMs);
    assert.deepEqual((await accounts.setLimits('Zoo', { perMinute: 8 })).ownLimits, { untilMs });
    const both = { perMinute: 8, perDay: 10 };
    assert.deepEqual((await accounts.setLimits('Zoo', both)).ownLimits, { untilMs: null });
  });

  test('one number alone keeps none of limits that have ended', async (t) => {
    const { accounts, clock } = await createWorld(t, engine);
    await accounts.create('Zoo', makePlan('pro'));
    await accounts.setLimits('Zoo', { perMinute: 7, perDay: 9 }, clock.now() + hourMs);
    clock.advance(hourMs);
    const { limits, ownLimits } = await accounts.setLimits('Zoo', { perMinute: 8 });
    assert.deepEqual([limits, ownLimits], [{ perMinute: 8, perDay: 10_000 }, { untilMs: null }]);
  });

  test('a reset starts both windows again, except windows that began after it', async (t) => {
    const { keyring, accounts, database, clock } = await createWorld(t, engine);
    const { id, account } = await keyring.issue(order({ account: 'Zoo' }));
    const accountId = await accounts.findId(account);
    const counters = createMemoryCounters();
    const limiter = createLimiter({ counters, clock: clock.now });
    const limits = { perMinute: 2, perDay: 3 };
    const caller = { accountId, accountName: account, keyId: id, plan: 'free', limits } as const;
    const take = async () => (await limiter.takeForKey(caller)).code;
    for (let sent = 0; sent < 2; sent += 1) await take();
    assert.equal(await take(), 'rate_limit_exceeded');
    const resets = createCorrectionFollower(database, counters, clock.now);
    await accounts.resetLimits(account);
    await resets.follow();
    clock.advance(1);
    assert.equal(await take(), null);
    await createCorrectionFollower(database, counters, clock.now).follow();
    assert.deepEqual([await take(), await take()], [null, 'rate_limit_exceeded']);
    clock.advance(dayMs);
    await resets.sweep();
    await assert.rejects(accounts.resetLimits('Ark'), { name: 'OperatorError' });
  });

  test('a reset is applied even if a later one became visible first', async (t) => {
    const { accounts, database, clock } = await createWorld(t, engine);
    const subjects: string[] = [];
    for (const name of ['Zoo', 'Ark']) {
      await accounts.create(name, makePlan('free'));
      await accounts.resetLimits(name);
      subjects.push(`account:${await accounts.findId(name)}`);
    }
    const applied: string[] = [];
    const counters = { ...createMemoryCounters(), reset: (subject: string) => applied.push(subject) > 0 };
    let hidden = 1;
    const read: Database['read'] = async (...call) => (await database.read(...call)).slice(hidden);
    const corrections = createCorrectionFollower({ ...database, read }, counters, clock.now);
    await corrections.follow();
    hidden = 0;
    await corrections.follow();
    assert.deepEqual(applied, subjects.toReversed());
  });

  test('the accounts that send the most, are refused most and fail most come first', async (t) => {
    const { keyring, accounts, database, clock } = await createWorld(t, engine);
    const counts = createUsageCounts(database, clock.now);
    for (const [name, statuses] of [
      ['Zoo', [200, 200, 200, 404]],
      ['Ark', [429, 429, 200]],
      ['Own', [500, 500]],
    ] as const) {
      await keyring.issue(order({ account: name }));
      const caller = { accountId: await accounts.findId(name) };
      for (const status of statuses) counts.note(caller, status);
    }
    clock.advance(hourMs);
    counts.note({ accountId: await accounts.findId('Own') }, 200);
    await counts.flush();
    const list = async (by: UsageOrder, sinceMs = 0) =>
      fieldOf(await listUsageByAccount(database, sinceMs, by, 10), 'account');
    assert.deepEqual(await list('requests'), ['Zoo', 'Ark', 'Own']);
    assert.deepEqual(await list('refused'), ['Ark', 'Zoo', 'Own']);
    assert.deepEqual(await list('errors'), ['Own', 'Zoo', 'Ark']);
    assert.deepEqual(await list('requests', clock.now()), ['Own']);
    const [first, ...others] = await listUsageByAccount(database, 0, 'refused', 1);
    assert.deepEqual([first, others], [{ account: 'Ark', requests: 3, refused: 2, errors: 0 }, []]);
  });
});

test('the commands for limits print what applies', async (t) => {
  const { print, readJson } = await createCommandWorld(t);
  await print('accounts create Zoo --plan free');
  const set = 'accounts set-limits Zoo --per-minute 600 --per-day 50000';
  const told = 'Zoo may send 600 requests a minute and 50000 a day until 2027-01-11T00:00:00.000Z\n';
  assert.equal(await print(`${set} --until 2027-01-11`), told);
  assert.match(await print('accounts list'), /Zoo +free +600 +50000/);
  const shown = await print('accounts show Zoo');
  assert.match(shown, /^plan +free: 600 a minute, 50000 a day, its own limits until 2027-01-11 00:00Z$/m);
  assert.deepEqual((await readJson('accounts show Zoo')).ownLimits, { until: '2027-01-11T00:00:00.000Z' });
  assert.deepEqual(await readJson('accounts reset-limits Zoo'), { account: 'Zoo', reset: true });
  const actions = fieldOf<{ action: string }, 'action'>(await readJson('audit --account Zoo'), 'action');
  assert.deepEqual(actions, ['account.limits_reset', 'account.limits_set', 'account.created']);
});

test('accounts set-limits takes a duration and one number alone', async (t) => {
  const { print, readJson, run } = await createCommandWorld(t);
  await print('accounts create Zoo --plan pro');
  const told = 'Zoo may send 600 requests a minute and 10000 a day until 2027-01-02T14:00:00.000Z\n';
  assert.equal(await print('accounts set-limits Zoo --per-minute 600 --until 2h'), told);
  const until = '2027-01-02T14:00:00.000Z';
  const limits = { account: 'Zoo', perMinute: 600, perDay: 7, until };
  assert.deepEqual(await readJson('accounts set-limits Zoo --per-day 7'), limits);
  const { code, stderr } = await run('accounts set-limits Zoo --until 2h');
  assert.deepEqual([code, stderr], [2, 'error: give --per-minute or --per-day, or both\n']);
});
