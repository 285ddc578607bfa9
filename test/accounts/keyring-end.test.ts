import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultOverlapMs } from '../../src/accounts/keyring.ts';
import { dayMs, hourMs } from '../../src/clock.ts';
import { createWorld, engines, findListed, makePlan, order } from './world.ts';

for (const engine of engines)
  describe(`rotating keys on ${engine.name}`, { skip: engine.skip }, () => {
    test('creates a key with the same account, plan and scopes', async (t) => {
      const { keyring } = await createWorld(t, engine);
      const old = await keyring.issue(
        order({ account: 'Zoo', plan: makePlan('pro'), scopes: ['pets:write'] }),
      );
      const { account, plan, scopes, expiresAtMs, key } = await keyring.rotate(old.id, hourMs);
      assert.deepEqual([account, plan, scopes, expiresAtMs], ['Zoo', 'pro', ['pets:write'], null]);
      assert.notEqual(key, old.key);
    });

    test('keeps the old key valid until the end of the overlap, to the millisecond', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.rotate(id, hourMs);
      const { state, expiresAtMs, revokedAtMs } = await findListed(keyring, id);
      assert.deepEqual([state, expiresAtMs, revokedAtMs], ['rotated', clock.now() + hourMs, null]);
      clock.advance(hourMs - 1);
      assert.equal((await findListed(keyring, id)).state, 'rotated');
      clock.advance(1);
      assert.equal((await findListed(keyring, id)).state, 'expired');
    });

    test('expires the old key immediately if the overlap is 0', async (t) => {
      const { keyring } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.rotate(id, 0);
      assert.equal((await findListed(keyring, id)).state, 'expired');
    });

    for (const overlapMs of [hourMs, hourMs - 1, 0])
      test(`an old key that expires in an hour stays valid for exactly an overlap of ${overlapMs} ms`, async (t) => {
        const { keyring, clock } = await createWorld(t, engine);
        const { id } = await keyring.issue(order({ lifetimeMs: dayMs }));
        clock.advance(dayMs - hourMs);
        await keyring.rotate(id, overlapMs);
        assert.equal((await findListed(keyring, id)).expiresAtMs, clock.now() + overlapMs);
      });

    test('does not extend the expiry of the old key if the overlap ends later', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id, expiresAtMs } = await keyring.issue(order({ lifetimeMs: dayMs }));
      clock.advance(dayMs - hourMs);
      await keyring.rotate(id, defaultOverlapMs);
      const listed = await findListed(keyring, id);
      assert.deepEqual([listed.state, listed.expiresAtMs], ['rotated', expiresAtMs]);
    });

    test('gives the new key the original lifetime of the old key', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      let { id } = await keyring.issue(order({ lifetimeMs: 30 * dayMs }));
      for (let count = 0; count < 3; count += 1) {
        clock.advance(29 * dayMs);
        const issued = await keyring.rotate(id, hourMs);
        assert.equal(issued.expiresAtMs, clock.now() + 30 * dayMs);
        id = issued.id;
      }
    });

    test('refuses a key that was already rotated, so that a key has only one successor', async (t) => {
      const { keyring, openOther } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      const other = await openOther();
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) => (index % 2 ? keyring : other).rotate(id, hourMs)),
      );
      const refused = results.filter((result) => result.status === 'rejected');
      assert.equal(refused.length, 9);
      for (const { reason } of refused)
        assert.match(String(reason), /OperatorError: the key "key_\w{16}" is already rotated/);
      assert.equal((await keyring.list()).length, 2);
    });

    test('refuses a key from the millisecond of its expiry on', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id } = await keyring.issue(order({ lifetimeMs: hourMs }));
      clock.advance(hourMs);
      await assert.rejects(keyring.rotate(id, hourMs), {
        name: 'OperatorError',
        message: /is already expired/,
      });
      assert.equal((await keyring.list()).length, 1);
    });

    test('refuses a key that was revoked', async (t) => {
      const { keyring } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.revoke(id);
      await assert.rejects(keyring.rotate(id, hourMs), {
        name: 'OperatorError',
        message: /is already revoked/,
      });
      assert.equal((await keyring.list()).length, 1);
    });

    test('refuses an id that no key has', async (t) => {
      const { keyring } = await createWorld(t, engine);
      await assert.rejects(keyring.rotate('key_none', hourMs), {
        name: 'OperatorError',
        message: 'there is no key "key_none": "keys list" shows all keys',
      });
    });
  });

for (const engine of engines)
  describe(`revoking keys on ${engine.name}`, { skip: engine.skip }, () => {
    test('ends a key and records the time', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.revoke(id);
      const { state, revokedAtMs } = await findListed(keyring, id);
      assert.deepEqual([state, revokedAtMs], ['revoked', clock.now()]);
    });

    test('keeps the time of the first revocation if the key is revoked twice', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.revoke(id);
      const revokedAtMs = clock.now();
      clock.advance(hourMs);
      await keyring.revoke(id);
      assert.equal((await findListed(keyring, id)).revokedAtMs, revokedAtMs);
    });

    test('stays in effect if the clock is set back', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.revoke(id);
      clock.advance(-hourMs);
      assert.equal((await findListed(keyring, id)).state, 'revoked');
    });

    test('ends a rotated key before the end of its overlap', async (t) => {
      const { keyring } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.rotate(id, hourMs);
      await keyring.revoke(id);
      assert.equal((await findListed(keyring, id)).state, 'revoked');
    });

    test('does not change other keys of the account', async (t) => {
      const { keyring } = await createWorld(t, engine);
      const [one, other] = [
        await keyring.issue(order({ account: 'Zoo' })),
        await keyring.issue(order({ account: 'Zoo' })),
      ];
      await keyring.revoke(one.id);
      assert.equal((await findListed(keyring, other.id)).state, 'active');
    });

    test('refuses an id that no key has', async (t) => {
      const { keyring } = await createWorld(t, engine);
      await assert.rejects(keyring.revoke('key_none'), {
        name: 'OperatorError',
        message: 'there is no key "key_none": "keys list" shows all keys',
      });
    });
  });
