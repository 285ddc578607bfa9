import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopes } from '../../src/accounts/account.ts';
import type { Accounts } from '../../src/accounts/accounts.ts';
import { hashKey, isKeyText } from '../../src/accounts/api-key.ts';
import { defaultOverlapMs, type KeyOrder } from '../../src/accounts/keyring.ts';
import { dayMs, hourMs } from '../../src/clock.ts';
import { describeOnEngines } from '../support/engines.ts';
import { createWorld, fieldOf, fieldsOf, findListed, makePlan, operatorError, order } from './world.ts';

const countKeys = async (accounts: Accounts) => fieldsOf(await accounts.list(), 'account', 'plan', 'keys');

await describeOnEngines('issuing keys', (engine) => {
  test('creates the named account or one with a generated name', async (t) => {
    const { keyring, accounts, clock } = await createWorld(t, engine);
    const plan = makePlan('enterprise', 7, 10);
    const issued = await keyring.issue(order({ account: '動物園', plan }));
    assert.ok(isKeyText(issued.key));
    assert.match(issued.key, /^as_stg_/);
    const account = { id: 1n, account: '動物園', plan: 'enterprise', openHolds: 100, keys: 1 };
    const rest = { limits: plan.limits, ownLimits: null, createdAtMs: clock.now(), suspendedAtMs: null };
    assert.deepEqual(await accounts.list(), [{ ...account, ...rest }]);
    const [one, other] = [await keyring.issue(order()), await keyring.issue(order())];
    assert.deepEqual(await countKeys(accounts), [
      ['動物園', 'enterprise', 1],
      [one.account, 'free', 1],
      [other.account, 'free', 1],
    ]);
  });

  test('adds keys to an account of the same plan', async (t) => {
    const { keyring, accounts } = await createWorld(t, engine);
    const plan = makePlan('enterprise', 7, 10);
    await keyring.issue(order({ account: 'Zoo', plan }));
    for (const named of [null, plan])
      assert.equal((await keyring.issue(order({ account: 'Zoo', plan: named }))).plan, 'enterprise');
    assert.deepEqual(await countKeys(accounts), [['Zoo', 'enterprise', 3]]);
  });

  test('refuses another plan for an existing account, no plan for a new one or an invalid name', async (t) => {
    const { keyring, accounts } = await createWorld(t, engine);
    await keyring.issue(order({ account: 'Zoo', plan: makePlan('enterprise', 7, 10) }));
    const refuses = (changes: Partial<KeyOrder>, message: string | RegExp) =>
      assert.rejects(keyring.issue(order(changes)), operatorError(message));
    const other = 'the account "Zoo" already has a plan (enterprise): "accounts set-plan" changes the plan';
    for (const plan of [makePlan('free'), makePlan('enterprise', 7, 11)])
      await refuses({ account: 'Zoo', plan }, other);
    await refuses({ account: 'Ark', plan: null }, /needs a plan/);
    for (const account of ['', '..', ' Zoo', 'x'.repeat(101), 'a\x1b[31m'])
      await refuses({ account }, /^an account name must have 1 to 100/);
    assert.deepEqual(await countKeys(accounts), [['Zoo', 'enterprise', 1]]);
  });

  test('stores only the SHA-256 and the visible start of a key', async (t) => {
    const { keyring, store } = await createWorld(t, engine);
    const { id, key } = await keyring.issue(order());
    const [row] = (await store.execute('select * from api_keys')) as Record<string, unknown>[];
    assert.deepEqual(Buffer.from(row?.['secret_hash'] as Uint8Array), Buffer.from(hashKey(key)));
    assert.equal((await findListed(keyring, id)).visibleStart, key.slice(0, 'as_stg_'.length + 4));
    const text = Object.values(row ?? {}).join(' ');
    assert.ok(!text.includes(key.slice('as_stg_'.length, 'as_stg_'.length + 5)));
  });

  test('puts simultaneous keys for one new account into one account with one plan', async (t) => {
    const { keyring, openOther, accounts } = await createWorld(t, engine);
    const keyrings = [keyring, await openOther()];
    const issue = async (index: number) => {
      const plan = makePlan(index % 3 === 0 ? 'pro' : 'free');
      return await keyrings[index % 2]?.issue(order({ account: 'Zoo', plan }));
    };
    const refuse = (error: Error) =>
      assert.match(String(error), /OperatorError: the account "Zoo" already has a plan/);
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => issue(index).catch(refuse)));
    const issued = results.filter((one) => one !== undefined);
    const plan = issued[0]?.plan;
    assert.equal(issued.length, plan === 'pro' ? 7 : 13);
    assert.equal(new Set(fieldOf(issued, 'key')).size, issued.length);
    assert.deepEqual(await countKeys(accounts), [['Zoo', plan, issued.length]]);
  });

  test('issues a first key with all scopes only in a store without accounts', async (t) => {
    const { keyring } = await createWorld(t, engine);
    const first = await keyring.issueFirst('development', makePlan('business'));
    assert.partialDeepStrictEqual(first, { account: 'development', plan: 'business', scopes });
    assert.equal(await keyring.issueFirst('development', makePlan('business')), null);
  });
});

await describeOnEngines('rotating and revoking keys', (engine) => {
  test('creates a key with the same account, plan, name, scopes and lifetime', async (t) => {
    const { keyring, clock } = await createWorld(t, engine);
    const wanted = { account: 'Zoo', plan: makePlan('pro'), name: 'till', scopes: ['pets:write'] } as const;
    const old = await keyring.issue(order({ ...wanted, lifetimeMs: dayMs }));
    clock.advance(2 * hourMs);
    const { key, ...successor } = await keyring.rotate(old.id, hourMs);
    const end = { expiresAtMs: clock.now() + dayMs, oldEndsAtMs: clock.now() + hourMs };
    assert.partialDeepStrictEqual(successor, { ...wanted, plan: 'pro', ...end });
    assert.notEqual(key, old.key);
  });

  test('ends the old key after the overlap, to the millisecond', async (t) => {
    const { keyring, clock } = await createWorld(t, engine);
    const old = await keyring.issue(order({ lifetimeMs: dayMs }));
    clock.advance(2 * hourMs);
    await keyring.rotate(old.id, hourMs);
    clock.advance(hourMs - 1);
    const ending = { state: 'rotated', expiresAtMs: clock.now() + 1, revokedAtMs: null };
    assert.partialDeepStrictEqual(await findListed(keyring, old.id), ending);
    clock.advance(1);
    assert.equal((await findListed(keyring, old.id)).state, 'expired');
  });

  test('ends a key that would expire in an hour by then, or at the end of a shorter overlap', async (t) => {
    const { keyring, clock } = await createWorld(t, engine);
    for (const [overlapMs, endsInMs, state] of [
      [defaultOverlapMs, hourMs, 'rotated'],
      [hourMs, hourMs, 'rotated'],
      [hourMs - 1, hourMs - 1, 'rotated'],
      [0, 0, 'expired'],
    ] as const) {
      const { id } = await keyring.issue(order({ lifetimeMs: dayMs }));
      clock.advance(dayMs - hourMs);
      await keyring.rotate(id, overlapMs);
      const listed = await findListed(keyring, id);
      assert.deepEqual([listed.expiresAtMs, listed.state], [clock.now() + endsInMs, state]);
    }
  });

  test('refuses an expired, a revoked and an unknown key', async (t) => {
    const { keyring, clock } = await createWorld(t, engine);
    const expired = await keyring.issue(order({ lifetimeMs: hourMs }));
    const revoked = await keyring.issue(order());
    await keyring.revoke(revoked.id);
    clock.advance(hourMs);
    await assert.rejects(keyring.rotate(expired.id, hourMs), operatorError(/is already expired/));
    await assert.rejects(keyring.rotate(revoked.id, hourMs), operatorError(/is already revoked/));
    for (const change of [() => keyring.rotate('key_none', hourMs), () => keyring.revoke('key_none')])
      await assert.rejects(change, operatorError('there is no key "key_none": "keys list" shows all keys'));
    assert.equal((await keyring.list()).length, 2);
  });

  test('ends a key for good and keeps the time of the first revocation, whatever the clock says', async (t) => {
    const { keyring, clock } = await createWorld(t, engine);
    const { id } = await keyring.issue(order({ account: 'Zoo' }));
    const rotated = await keyring.issue(order({ account: 'Zoo' }));
    const { id: other } = await keyring.rotate(rotated.id, hourMs);
    const revokedAtMs = clock.now();
    for (const movedMs of [0, hourMs, -2 * hourMs]) {
      clock.advance(movedMs);
      for (const ended of [id, rotated.id]) {
        await keyring.revoke(ended);
        const listed = await findListed(keyring, ended);
        assert.deepEqual([listed.state, listed.revokedAtMs], ['revoked', revokedAtMs]);
      }
    }
    assert.equal((await findListed(keyring, other)).state, 'active');
  });
});
