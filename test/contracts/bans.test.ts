import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourMs, minuteMs, secondMs } from '../../src/clock.ts';
import { type BanPlace, createBans, type ListedBan } from '../../src/limits/bans.ts';
import { createCorrectionFollower } from '../../src/limits/corrections.ts';
import { createCounterStore } from '../../src/limits/memory/counter-store.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { fieldOf, findListed, order, walk } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';
import { byAnn, openAdministration, openWithBan } from './administration.ts';

await describeOnEngines('bans', (engine) => {
  test('pages of bans contain each ban once, even if two bans expire at the same time', async (t) => {
    const { bans, keyring, store, clock } = await openAdministration(t, engine);
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
    const { id, bans, keyring, take, clock } = await openWithBan(t, engine);
    const ban = { keyId: id, account: 'Zoo', beganAtMs: clock.now(), endsAtMs: clock.now() + minuteMs };
    assert.partialDeepStrictEqual(await bans.list(), [ban]);
    const { state, bannedUntilMs } = await findListed(keyring, id);
    assert.deepEqual([state, bannedUntilMs], ['active', ban.endsAtMs]);
    assert.equal(take().verdict, 'banned');
    clock.advance(minuteMs);
    assert.deepEqual([await bans.list(), take().verdict], [[], 'passed']);
  });

  test('a lift ends a ban in every process, also after a restart', async (t) => {
    const { id, bans, lifts, counterStore, database, clock, listEntries } = await openWithBan(t, engine);
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
    const { id, bans, lifts, take, counters, counterStore, database, clock } = await openWithBan(t, engine);
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
    const { id, bans, take, counters, database, clock } = await openWithBan(t, engine);
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
    const { id, lifts, take, database, clock } = await openWithBan(t, engine);
    await createBans(database, () => clock.now() - 5 * secondMs, byAnn).lift(id);
    await lifts.follow();
    assert.equal(take().verdict, 'refused');
  });

  test('a lift is deleted after an hour, the longest ban', async (t) => {
    const { id, bans, lifts, clock, store } = await openWithBan(t, engine);
    await bans.lift(id);
    assert.equal((await store.execute('select id from ban_lifts')).length, 1);
    clock.advance(hourMs + 1);
    await lifts.sweep();
    assert.deepEqual(await store.execute('select id from ban_lifts'), []);
  });

  test('an unknown key, a key without a ban and the keys of an unknown account are refused', async (t) => {
    const { bans, keyring, listEntries } = await openAdministration(t, engine);
    const { id } = await keyring.issue(order({ account: 'Zoo' }));
    await keyring.issue(order({ account: 'Ark' }));
    await assert.rejects(bans.lift(id), { name: 'OperatorError', message: /is not banned/ });
    await assert.rejects(bans.lift('key_none'), { name: 'OperatorError', message: /there is no key/ });
    assert.deepEqual(await listEntries({ action: 'ban.lifted' }), []);
    const [listed, ...others] = await keyring.list('Zoo');
    assert.deepEqual([listed?.id, others], [id, []]);
    await assert.rejects(keyring.list('None'), { name: 'OperatorError' });
  });
});
