import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { auditKeptMs, consoleActor, createAudit } from '../../src/audit/audit-log.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/clock.ts';
import { type BanPlace, createBans, type ListedBan } from '../../src/limits/bans.ts';
import { createCorrectionFollower } from '../../src/limits/corrections.ts';
import { createCounterStore, createStoredLook } from '../../src/limits/memory/counter-store.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { prepareChanges } from '../../src/operator/changes.ts';
import { createUsageCounts, listUsage } from '../../src/usage/usage.ts';
import { createWorld, fieldOf, fieldsOf, findListed, makePlan, order, walk } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';

const byAnn = { kind: 'command', name: 'ann' } as const;
const byConsole = consoleActor('mira', 'con_1');

await describeOnEngines('administration', (engine) => {
  async function prepare(t: TestContext) {
    const world = await createWorld(t, engine);
    const { database, clock } = world;
    const audit = createAudit(database, clock.now);
    const changeAs = prepareChanges(database, clock.now, 'stg');
    const listEntries = async (query: Partial<Parameters<typeof audit.list>[0]> = {}) =>
      (await audit.list({ limit: 100, ...query })).items;
    return { ...world, audit, listEntries, changeAs, ...changeAs(byAnn) };
  }

  /** Creates the counters of a process, and an account with a key that these counters have banned. */
  async function prepareBan(t: TestContext) {
    const world = await prepare(t);
    const { database, clock, keyring } = world;
    const { id } = await keyring.issue(order({ account: 'Zoo' }));
    const subject = `account:${await world.accounts.findId('Zoo')}`;
    const counters = createMemoryCounters();
    const counterStore = createCounterStore({ counters, database, clock: clock.now });
    const take = () => counters.take(subject, { perMinute: 60, perDay: 1_000 }, id, clock.now());
    for (let count = 0; count < 120; count += 1) take();
    await counterStore.flush();
    const lifts = createCorrectionFollower(database, counters, clock.now);
    return { ...world, id, counters, counterStore, take, lifts };
  }

  test('creating, renaming, suspending and resuming an account each write one audit row with the actor', async (t) => {
    const { accounts, listEntries, clock } = await prepare(t);
    await accounts.create('Zoo', makePlan('enterprise', 5, 6));
    await accounts.rename('Zoo', 'Ark');
    await accounts.suspend('Ark');
    await accounts.suspend('Ark');
    assert.equal((await accounts.find('Ark')).suspendedAtMs, clock.now());
    await accounts.resume('Ark');
    await accounts.resume('Ark');
    await accounts.setPlan('Ark', makePlan('pro'));
    assert.equal((await accounts.find('Ark')).suspendedAtMs, null);
    const entries = await listEntries();
    assert.deepEqual(fieldsOf(entries.toReversed(), 'action', 'subject', 'before', 'after'), [
      ['account.created', 'Zoo', null, { plan: 'enterprise', perMinute: 5n, perDay: 6n }],
      ['account.renamed', 'Ark', { account: 'Zoo' }, { account: 'Ark' }],
      ['account.suspended', 'Ark', { suspended: false }, { suspended: true }],
      ['account.resumed', 'Ark', { suspended: true }, { suspended: false }],
      ['account.plan_changed', 'Ark', { plan: 'enterprise', perMinute: 5n, perDay: 6n }, { plan: 'pro' }],
    ]);
    for (const { actor, account, atMs } of entries)
      assert.deepEqual([actor, account, atMs], [byAnn, 'Ark', clock.now()]);
  });

  test('a taken or invalid name and an unknown account change nothing', async (t) => {
    const { accounts, listEntries } = await prepare(t);
    const free = makePlan('free');
    for (const name of ['Zoo', 'Ark']) await accounts.create(name, free);
    const made = await listEntries();
    for (const refused of [
      () => accounts.create('Zoo', free),
      () => accounts.create(' ', free),
      () => accounts.rename('Zoo', 'Ark'),
      () => accounts.rename('Zoo', 'a\n'),
      () => accounts.rename('None', 'Other'),
      () => accounts.suspend('None'),
      () => accounts.resume('None'),
      () => accounts.setPlan('None', makePlan('pro')),
    ])
      await assert.rejects(refused, { name: 'OperatorError', message: /account/ });
    await accounts.rename('Zoo', 'Zoo');
    assert.deepEqual(await listEntries(), made);
  });

  test('accounts are listed by the start of their name, in any case and in pages', async (t) => {
    const { accounts } = await prepare(t);
    for (const name of ['Zoo', 'acme', 'Acme Zoo', 'ACME', 'Ark', 'Élodie'])
      await accounts.create(name, makePlan('free'));
    await accounts.delete('Ark', null);
    const list = async (start: string) => {
      const query = { limit: 2, order: 'name', start } as const;
      return fieldOf(await walk((firstId) => accounts.listPage({ ...query, firstId })), 'account');
    };
    assert.deepEqual(await list('aCm'), ['acme', 'ACME', 'Acme Zoo']);
    assert.deepEqual(await list(''), ['acme', 'ACME', 'Acme Zoo', 'Zoo', 'Élodie']);
    assert.deepEqual(await list('Él'), ['Élodie']);
    for (const none of ['a%', 'oo', '_']) assert.deepEqual(await list(none), []);
    assert.deepEqual(fieldOf(await accounts.listNamed(['Zoo', 'Ark', 'acme']), 'account'), ['Zoo', 'acme']);
  });

  test('the audit log is listed newest first in pages, with filters for account, actor, action, subject and time', async (t) => {
    const { changeAs, keyring, accounts, audit, listEntries, clock } = await prepare(t);
    const { id } = await keyring.issue(order({ account: 'Zoo' }));
    await accounts.create('Ark', makePlan('free'));
    clock.advance(hourMs);
    await changeAs(byConsole).keyring.revoke(id);
    await changeAs(byConsole).keyring.revoke(id);
    const actions = async (query: Parameters<typeof listEntries>[0]) =>
      fieldOf(await listEntries(query), 'action');
    assert.deepEqual(await actions({}), ['key.revoked', 'account.created', 'key.created', 'account.created']);
    assert.deepEqual(await actions({ account: 'Zoo' }), ['key.revoked', 'key.created', 'account.created']);
    for (const actor of ['con_1', 'mira', 'mira in con_1'])
      assert.deepEqual(await actions({ actor }), ['key.revoked']);
    for (const actor of ['on_1', 'mir', 'con_1 in mira', '%', ''])
      assert.deepEqual(await actions({ actor }), []);
    assert.deepEqual(await actions({ action: 'key.created' }), ['key.created']);
    assert.deepEqual(await actions({ subject: id }), ['key.revoked', 'key.created']);
    assert.deepEqual(await actions({ sinceMs: clock.now() }), ['key.revoked']);
    await assert.rejects(listEntries({ account: 'None' }), { name: 'OperatorError' });
    const walked = await walk((newestId) => audit.list({ limit: 1, newestId }));
    assert.deepEqual(walked, await listEntries());
  });

  test('the audit log keeps rows for a year and is swept in bounded steps', async (t) => {
    const { accounts, audit, store, listEntries, clock } = await prepare(t);
    await store.execute(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 2500)
        insert into audit (at_ms, actor_kind, actor, action, subject)
        select ${clock.now()}, 'command', 'ann', 'key.revoked', 'key_' || n from numbers`);
    clock.advance(1);
    await accounts.create('Zoo', makePlan('free'));
    clock.advance(auditKeptMs - 1);
    await audit.sweep();
    assert.equal((await listEntries()).length, 100);
    clock.advance(1);
    await audit.sweep();
    assert.deepEqual(fieldOf(await listEntries(), 'subject'), ['Zoo']);
  });

  test('pages of bans contain each ban once, even if two bans expire at the same time', async (t) => {
    const { bans, keyring, store, clock } = await prepare(t);
    const banned: string[] = [];
    for (const endsAtMs of [1, 1, 2].map((ms) => clock.now() + ms)) {
      const { id } = await keyring.issue(order());
      await store.execute(`insert into key_bans values ('${id}', ${endsAtMs}, 0, 60000, '', ${endsAtMs})`);
      banned.push(id);
    }
    const walked = await walk<ListedBan, BanPlace>((from) =>
      bans.listPage(1, from ?? { endsAtMs: 0, keyId: '' }),
    );
    const listed = fieldOf(walked, 'keyId');
    assert.equal(listed[2], banned[2]);
    assert.deepEqual(listed.toSorted(), banned.toSorted());
  });

  test('a ban is listed until it ends', async (t) => {
    const { id, bans, keyring, take, clock } = await prepareBan(t);
    const ban = { keyId: id, account: 'Zoo', beganAtMs: clock.now(), endsAtMs: clock.now() + minuteMs };
    assert.partialDeepStrictEqual(await bans.list(), [ban]);
    const { state, bannedUntilMs } = await findListed(keyring, id);
    assert.deepEqual([state, bannedUntilMs], ['active', ban.endsAtMs]);
    assert.equal(take().verdict, 'banned');
    clock.advance(minuteMs);
    assert.deepEqual([await bans.list(), take().verdict], [[], 'passed']);
  });

  test('a lift ends a ban in every process, also after a restart', async (t) => {
    const { id, bans, lifts, counterStore, database, clock, listEntries } = await prepareBan(t);
    await bans.lift(id);
    assert.deepEqual(await bans.list(), []);
    await lifts.follow();
    await counterStore.flush();
    const restarted = createMemoryCounters();
    await createCounterStore({ counters: restarted, database, clock: clock.now }).load();
    assert.equal(restarted.keys.get(id), undefined);
    const [entry] = await listEntries();
    assert.deepEqual([entry?.action, entry?.subject, entry?.account], ['ban.lifted', id, 'Zoo']);
  });

  test('a lift does not end a later ban', async (t) => {
    const { id, bans, lifts, take, counters, counterStore, database, clock } = await prepareBan(t);
    await bans.lift(id);
    await lifts.follow();
    await counterStore.flush();
    clock.advance(secondMs);
    for (let count = 0; count < 60; count += 1) take();
    await lifts.follow();
    await createCorrectionFollower(database, counters, clock.now).follow();
    const again = take();
    assert.deepEqual([again.verdict, again.bannedUntilMs], ['banned', clock.now() + minuteMs]);
    await counterStore.flush();
    assert.equal((await bans.list()).length, 1);
    clock.advance(minuteMs);
    assert.deepEqual([await bans.list(), take().verdict], [[], 'passed']);
  });

  test('a lift that the counters could not apply is applied at the next check', async (t) => {
    const { id, bans, take, counters, database, clock } = await prepareBan(t);
    const lift = t.mock.fn(counters.lift);
    const { follow } = createCorrectionFollower(database, { ...counters, lift }, clock.now);
    await bans.lift(id);
    lift.mock.mockImplementationOnce(() => false);
    for (const verdict of ['banned', 'refused', 'refused']) {
      await follow();
      assert.equal(take().verdict, verdict);
    }
    assert.equal(lift.mock.callCount(), 2);
  });

  test('a lift ends a ban even if the clock of the operator is behind the clock that counts', async (t) => {
    const { id, lifts, take, database, clock } = await prepareBan(t);
    await createBans(database, () => clock.now() - 5 * secondMs, byAnn).lift(id);
    await lifts.follow();
    assert.equal(take().verdict, 'refused');
  });

  test('a lift is deleted after an hour, the longest ban', async (t) => {
    const { id, bans, lifts, clock, store } = await prepareBan(t);
    await bans.lift(id);
    assert.equal((await store.execute('select id from ban_lifts')).length, 1);
    clock.advance(hourMs + 1);
    await lifts.sweep();
    assert.deepEqual(await store.execute('select id from ban_lifts'), []);
  });

  test('an unknown key, a key without a ban and the keys of an unknown account are refused', async (t) => {
    const { bans, keyring, listEntries } = await prepare(t);
    const { id } = await keyring.issue(order({ account: 'Zoo' }));
    await keyring.issue(order({ account: 'Ark' }));
    await assert.rejects(bans.lift(id), { name: 'OperatorError', message: /is not banned/ });
    await assert.rejects(bans.lift('key_none'), { name: 'OperatorError', message: /there is no key/ });
    assert.deepEqual(await listEntries({ action: 'ban.lifted' }), []);
    const [listed, ...others] = await keyring.list('Zoo');
    assert.deepEqual([listed?.id, others], [id, []]);
    await assert.rejects(keyring.list('None'), { name: 'OperatorError' });
  });

  test('usage is summed over instances by account and hour', async (t) => {
    const { accounts, database, store, clock } = await prepare(t);
    await accounts.create('Zoo', makePlan('free'));
    await accounts.create('Ark', makePlan('free'));
    const [zoo, ark] = [await accounts.findId('Zoo'), await accounts.findId('Ark')];
    const byZoo = { accountId: zoo };
    const one = createUsageCounts(database, clock.now);
    const other = createUsageCounts(await store.open(), clock.now);
    const firstMs = clock.now();
    for (const counts of [one, other])
      for (const status of [200, 304, 404, 429, 503]) counts.note(byZoo, status);
    one.note({ accountId: ark }, 201);
    clock.advance(hourMs - 1);
    one.note({ ...byZoo }, 200);
    clock.advance(1);
    one.note(byZoo, 429);
    await Promise.all([one.flush(), other.flush()]);
    other.note(byZoo, 200);
    await other.flush();
    await other.flush();
    const list = (id: bigint) => listUsage(database, id, clock.now());
    assert.deepEqual(await list(zoo), [
      { atMs: firstMs, requests: 11, refusals: 2, errors: 4 },
      { atMs: firstMs + hourMs, requests: 2, refusals: 1, errors: 0 },
    ]);
    assert.deepEqual(await list(ark), [{ atMs: firstMs, requests: 1, refusals: 0, errors: 0 }]);
  });

  test('usage is kept for 7 days', async (t) => {
    const { accounts, database, store, clock } = await prepare(t);
    await accounts.create('Zoo', makePlan('free'));
    await accounts.create('Ark', makePlan('free'));
    const [zoo, ark] = [await accounts.findId('Zoo'), await accounts.findId('Ark')];
    const counts = createUsageCounts(database, clock.now);
    for (const accountId of [zoo, ark]) counts.note({ accountId }, 200);
    clock.advance(hourMs);
    counts.note({ accountId: zoo }, 200);
    await counts.flush();
    clock.advance(7 * dayMs);
    assert.equal((await listUsage(database, zoo, clock.now())).length, 1);
    clock.advance(hourMs);
    await counts.sweep();
    const rows = await store.execute<{ account_id: unknown }>('select account_id from usage_hours');
    assert.deepEqual(fieldOf(rows, 'account_id').map(String), [String(zoo)]);
  });

  test('the overview has both rate limit windows from the store, the keys, the usage and the open holds', async (t) => {
    const { database, accounts, keyring, clock, id, take, counterStore } = await prepareBan(t);
    take();
    await counterStore.flush();
    const accountId = await accounts.findId('Zoo');
    const usage = createUsageCounts(database, clock.now);
    for (const status of [200, 429, 404]) usage.note({ accountId }, status);
    await usage.flush();
    const look = createStoredLook(database, clock.now);
    assert.partialDeepStrictEqual(await accounts.readState('Zoo', look), {
      account: 'Zoo',
      plan: 'free',
      openHolds: 5,
      holdsOpen: 0,
      minute: { limit: 60, used: 60, remaining: 0, resetAtMs: clock.now() + minuteMs },
      day: { limit: 1_000, used: 60, remaining: 940, resetAtMs: clock.now() + dayMs },
      lastDay: { requests: 3, refusals: 1, errors: 1 },
    });
    const keys = await keyring.list('Zoo', 50);
    assert.deepEqual(fieldsOf(keys, 'id', 'bannedUntilMs'), [[id, clock.now() + minuteMs]]);
    clock.advance(minuteMs + secondMs);
    const { minute } = await accounts.readState('Zoo', look);
    assert.deepEqual(minute, { limit: 60, used: 0, remaining: 60, resetAtMs: null });
    await assert.rejects(accounts.readState('None', look), { name: 'OperatorError' });
  });
});
