import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultOverlapMs } from '../../src/accounts/keyring.ts';
import { dayMs, hourMs } from '../../src/clock.ts';
import { createWorld, engines, findListed, makePlan, order } from './world.ts';

for (const engine of engines)
  describe(`rotating keys on ${engine.name}`, { skip: engine.skip }, () => {
    test('gives a key of the same account, plan and scopes', async (t) => {
      const { keyring } = await createWorld(t, engine);
      const old = await keyring.issue(
        order({ account: 'Zoo', plan: makePlan('pro'), scopes: ['pets:write'] }),
      );
      const { account, plan, scopes, expiresAtMs, key } = await keyring.rotate(old.id, hourMs);
      assert.deepEqual([account, plan, scopes, expiresAtMs], ['Zoo', 'pro', ['pets:write'], null]);
      assert.notEqual(key, old.key);
    });

    test('lets the old key live until the end of the overlap, to the millisecond', async (t) => {
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

    test('ends the old key at once if the overlap is 0', async (t) => {
      const { keyring } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.rotate(id, 0);
      assert.equal((await findListed(keyring, id)).state, 'expired');
    });

    for (const overlapMs of [hourMs, hourMs - 1, 0])
      test(`an overlap of ${overlapMs} ms, up to its own end in an hour, is the time that the old key has left`, async (t) => {
        const { keyring, clock } = await createWorld(t, engine);
        const { id } = await keyring.issue(order({ lifetimeMs: dayMs }));
        clock.advance(dayMs - hourMs);
        await keyring.rotate(id, overlapMs);
        assert.equal((await findListed(keyring, id)).expiresAtMs, clock.now() + overlapMs);
      });

    test('an overlap beyond the end of the old key does not change that end', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id, expiresAtMs } = await keyring.issue(order({ lifetimeMs: dayMs }));
      clock.advance(dayMs - hourMs);
      await keyring.rotate(id, defaultOverlapMs);
      const listed = await findListed(keyring, id);
      assert.deepEqual([listed.state, listed.expiresAtMs], ['rotated', expiresAtMs]);
    });

    test('gives the new key the original lifetime of the old one', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      let { id } = await keyring.issue(order({ lifetimeMs: 30 * dayMs }));
      for (let count = 0; count < 3; count += 1) {
        clock.advance(29 * dayMs);
        const issued = await keyring.rotate(id, hourMs);
        assert.equal(issued.expiresAtMs, clock.now() + 30 * dayMs);
        id = issued.id;
      }
    });

    test('refuses a key that is rotated already, so that a key has one successor', async (t) => {
      const { keyring, openOther } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      const other = await openOther();
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) => (index % 2 ? keyring : other).rotate(id, hourMs)),
      );
      const refused = results.filter((result) => result.status === 'rejected');
      assert.equal(refused.length, 9);
      for (const { reason } of refused)
        assert.match(String(reason), /OperatorError: the key "key_\w{16}" is rotated already/);
      assert.equal((await keyring.list()).length, 2);
    });

    test('refuses a key that has expired, at the millisecond of its end', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id } = await keyring.issue(order({ lifetimeMs: hourMs }));
      clock.advance(hourMs);
      await assert.rejects(keyring.rotate(id, hourMs), {
        name: 'OperatorError',
        message: /is expired already/,
      });
      assert.equal((await keyring.list()).length, 1);
    });

    test('refuses a key that was revoked', async (t) => {
      const { keyring } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.revoke(id);
      await assert.rejects(keyring.rotate(id, hourMs), {
        name: 'OperatorError',
        message: /is revoked already/,
      });
      assert.equal((await keyring.list()).length, 1);
    });

    test('refuses an id that no key has', async (t) => {
      const { keyring } = await createWorld(t, engine);
      await assert.rejects(keyring.rotate('key_none', hourMs), {
        name: 'OperatorError',
        message: 'there is no key "key_none": "keys list" shows them all',
      });
    });
  });

for (const engine of engines)
  describe(`revoking keys on ${engine.name}`, { skip: engine.skip }, () => {
    test('ends a key and records when', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.revoke(id);
      const { state, revokedAtMs } = await findListed(keyring, id);
      assert.deepEqual([state, revokedAtMs], ['revoked', clock.now()]);
    });

    test('twice keeps the first time', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.revoke(id);
      const revokedAtMs = clock.now();
      clock.advance(hourMs);
      await keyring.revoke(id);
      assert.equal((await findListed(keyring, id)).revokedAtMs, revokedAtMs);
    });

    test('holds even if the clock is set back', async (t) => {
      const { keyring, clock } = await createWorld(t, engine);
      const { id } = await keyring.issue(order());
      await keyring.revoke(id);
      clock.advance(-hourMs);
      assert.equal((await findListed(keyring, id)).state, 'revoked');
    });

    test('ends a rotated key before its overlap does', async (t) => {
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
        message: 'there is no key "key_none": "keys list" shows them all',
      });
    });
  });
