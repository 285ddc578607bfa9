import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs, minuteMs, secondMs } from '../../src/clock.ts';
import { createStoredLook } from '../../src/limits/memory/counter-store.ts';
import { createUsageCounts } from '../../src/usage/usage.ts';
import { fieldOf, fieldsOf, makePlan, walk } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';
import { byAnn, openAdministration, openWithBan } from './administration.ts';

await describeOnEngines('accounts', (engine) => {
  test('creating, renaming, suspending and resuming an account each write one audit row with the actor', async (t) => {
    const { accounts, listEntries, clock } = await openAdministration(t, engine);
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
    const { accounts, listEntries } = await openAdministration(t, engine);
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
    const { accounts } = await openAdministration(t, engine);
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

  test('the overview has both rate limit windows from the store, the keys, the usage and the open holds', async (t) => {
    const { database, accounts, keyring, clock, id, take, counterStore } = await openWithBan(t, engine);
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
