import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Scope, scopes } from '../../src/accounts/account.ts';
import { countOpenHolds } from '../../src/accounts/accounts.ts';
import { liveKeysMax } from '../../src/accounts/key-changes.ts';
import type { ListedKey } from '../../src/accounts/key-rows.ts';
import { createKeyVerifier } from '../../src/accounts/key-verifier.ts';
import { createKeyring, type KeyOrder, type Keyring } from '../../src/accounts/keyring.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/clock.ts';
import type { AppError } from '../../src/errors.ts';
import type { Database } from '../../src/storage/database.ts';
import { createWorld, fieldOf, fieldsOf, findListed, operatorError, order, walk } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';

await describeOnEngines('the keys of an account over HTTP', (engine) => {
  /** Creates an account with a key, and the keyring `keys` of this key. `changes` are those of its order. */
  async function prepare(t: TestContext, changes: Partial<KeyOrder> = {}) {
    const { keyring: operator, ...world } = await createWorld(t, engine);
    const verifier = createKeyVerifier(world.database, world.clock.now);
    const keyringOf = (name: string, database: Database = world.database) =>
      createKeyring(database, world.clock.now, 'stg', { kind: 'key', name }, verifier);
    const caller = await operator.issue(order({ account: 'Zoo', scopes, ...changes }));
    const accountId = await world.accounts.findId('Zoo');
    const keys = keyringOf(caller.id);
    const openOther = async () => keyringOf(caller.id, await world.store.open());
    const listIds = async (limit = 100) =>
      fieldOf(await walk<ListedKey, string>((firstId) => keys.listPage(accountId, limit, firstId)), 'id');
    return { ...world, operator, verifier, keyringOf, caller, accountId, keys, openOther, listIds };
  }

  function create(keys: Keyring, lifetimeMs: number | null = null) {
    return keys.create({ name: null, scopes: ['pets:read'], lifetimeMs });
  }

  test('keys are listed newest first in pages of any length, even keys created in the same millisecond', async (t) => {
    const { keys, caller, clock, listIds } = await prepare(t);
    const made = [caller.id];
    for (let count = 0; count < 3; count += 1) made.push((await create(keys)).id);
    clock.advance(1);
    const last = await create(keys);
    const ids = await listIds();
    assert.equal(ids[0], last.id);
    assert.deepEqual(ids.toSorted(), [...made, last.id].toSorted());
    for (const limit of [1, 2, 3, 5]) assert.deepEqual(await listIds(limit), ids);
  });

  test('the next page can start at a key that was deleted after the previous page', async (t) => {
    const { keys, caller, accountId, clock } = await prepare(t);
    clock.advance(1);
    const second = await create(keys);
    clock.advance(1);
    await create(keys);
    const { next: nextId } = await keys.listPage(accountId, 1, null);
    assert.equal(nextId, second.id);
    await keys.revoke(second.id);
    const rest = await keys.listPage(accountId, 1, nextId);
    assert.deepEqual([rest.items[0]?.id, rest.next], [caller.id, null]);
  });

  test('a key can grant only scopes that it has or covers', async (t) => {
    const held: Scope[] = ['pets:read', 'orders:manage', 'keys:manage'];
    const { keys } = await prepare(t, { scopes: held });
    for (const scope of scopes) {
      const granted = keys.create({ name: null, scopes: [scope], lifetimeMs: null });
      if ([...held, 'orders:read', 'orders:write'].includes(scope)) await granted;
      else await assert.rejects(granted, { code: 'scope_missing', message: new RegExp(scope) });
    }
  });

  test('a new key expires with its creator by default', async (t) => {
    const { keys, keyringOf, operator } = await prepare(t);
    assert.equal((await create(keys)).expiresAtMs, null);
    const { id, expiresAtMs } = await operator.issue(order({ scopes, lifetimeMs: dayMs }));
    assert.equal((await create(keyringOf(id), null)).expiresAtMs, expiresAtMs);
  });

  test('a new key cannot outlive its creator', async (t) => {
    const { keyringOf, operator } = await prepare(t);
    const { id, expiresAtMs } = await operator.issue(order({ scopes, lifetimeMs: dayMs }));
    assert.equal((await create(keyringOf(id), dayMs)).expiresAtMs, expiresAtMs);
    const refusal = { code: 'invalid_body', message: /^expiresInSeconds / };
    await assert.rejects(create(keyringOf(id), dayMs + secondMs), refusal);
  });

  test('an account has at most 25 active keys, even after concurrent requests', async (t) => {
    const { keys, openOther, listIds } = await prepare(t);
    const other = await openOther();
    const refuse = (error: AppError) => assert.equal(error.code, 'limit_reached');
    await Promise.all(Array.from({ length: 30 }, (_, n) => create(n % 2 ? other : keys).catch(refuse)));
    assert.equal((await listIds()).length, liveKeysMax);
  });

  test('expired, deleted and rotated keys do not count towards the limit of active keys', async (t) => {
    const { keys, operator, clock } = await prepare(t);
    const passing = await create(keys, minuteMs);
    for (let count = 2; count < liveKeysMax; count += 1) await create(keys);
    await assert.rejects(create(keys), { code: 'limit_reached' });
    clock.advance(minuteMs);
    const late = await create(keys);
    await assert.rejects(create(keys), { code: 'limit_reached' });
    await keys.revoke(late.id);
    const last = await create(keys);
    const successor = await keys.rotate(last.id, dayMs);
    await assert.rejects(create(keys), { code: 'limit_reached' });
    assert.equal((await findListed(operator, last.id)).state, 'rotated');
    await keys.revoke(successor.id);
    await create(keys);
    await assert.rejects(keys.rotate(last.id, dayMs), { code: 'limit_reached' });
    await operator.rotate(last.id, dayMs);
    assert.equal((await findListed(operator, passing.id)).state, 'expired');
  });

  test('an overlap of 0 ends the old key at once, also in the cache of the instance that answers', async (t) => {
    const { keys, verifier } = await prepare(t);
    const old = await create(keys);
    assert.ok('caller' in (await verifier.verifyAgain(old.key)));
    const successor = await keys.rotate(old.id, 0);
    assert.deepEqual(await verifier.verifyAgain(old.key), { refusal: 'api_key_expired' });
    assert.ok('caller' in (await verifier.verifyAgain(successor.key)));
    await keys.revoke(successor.id);
    assert.deepEqual(await verifier.verifyAgain(successor.key), { refusal: 'api_key_revoked' });
  });

  for (const overlapMs of [minuteMs, 0])
    test(`a key with an unused successor can rotate again after an overlap of ${overlapMs} ms`, async (t) => {
      const { keys, caller, operator, listIds, verifier, clock } = await prepare(t);
      const old = await create(keys, 2 * hourMs);
      clock.advance(hourMs);
      const lost = await keys.rotate(old.id, overlapMs);
      clock.advance(secondMs);
      const { key: text, oldEndsAtMs: _, ...successor } = await keys.rotate(old.id, 2 * minuteMs);
      assert.equal(successor.expiresAtMs, old.expiresAtMs);
      assert.deepEqual(await findListed(operator, successor.id), successor);
      assert.deepEqual(new Set(await listIds()), new Set([successor.id, old.id, caller.id]));
      assert.deepEqual(await verifier.verifyAgain(lost.key), { refusal: 'api_key_revoked' });
      assert.ok('caller' in (await verifier.verifyAgain(text)));
      const oldNow = await verifier.verifyAgain(old.key);
      assert.equal('caller' in oldNow, overlapMs > 0, 'an ended overlap stays ended');
    });

  test('a key without an end gets a successor without an end', async (t) => {
    const { keys, caller, operator, verifier } = await prepare(t);
    const { id } = await create(keys);
    for (const rotated of [id, id, caller.id, caller.id])
      assert.equal((await keys.rotate(rotated, minuteMs)).expiresAtMs, null);
    const successor = await keys.rotate(id, minuteMs);
    await verifier.verifyAgain(successor.key);
    await assert.rejects(keys.rotate(id, minuteMs), { code: 'key_rotated' });
    await assert.rejects(operator.rotate(id, minuteMs), operatorError(/rotate key_\w+ instead/));
    const next = await keys.rotate(successor.id, minuteMs);
    await assert.rejects(keys.rotate(id, minuteMs), { code: 'key_rotated' });
    assert.equal((await findListed(operator, next.id)).state, 'active');
  });

  test('a rotated key is not found once its end of before has passed', async (t) => {
    const { keys, clock } = await prepare(t);
    const { id } = await create(keys, minuteMs);
    await keys.rotate(id, secondMs);
    clock.advance(minuteMs);
    await assert.rejects(keys.rotate(id, secondMs), { code: 'not_found' });
  });

  test('a successor does not expire after the calling key, which may be the rotated key', async (t) => {
    const { keys, keyringOf, caller, operator, clock } = await prepare(t);
    const passing = await operator.issue(order({ account: 'Zoo', scopes, lifetimeMs: dayMs }));
    clock.advance(hourMs);
    for (const id of [caller.id, passing.id])
      assert.equal((await keyringOf(passing.id).rotate(id, 0)).expiresAtMs, passing.expiresAtMs);
    await assert.rejects(create(keyringOf(passing.id)), { code: 'api_key_expired' });
    await assert.rejects(create(keys), { code: 'api_key_expired' });
  });

  test('a key cannot rotate a key with more scopes, but can delete it', async (t) => {
    const { keyringOf, caller, operator } = await prepare(t);
    const { id } = await operator.issue(order({ account: 'Zoo', scopes: ['keys:manage'] }));
    await assert.rejects(keyringOf(id).rotate(caller.id, minuteMs), { code: 'scope_missing' });
    assert.equal((await findListed(operator, caller.id)).state, 'active');
    await keyringOf(id).revoke(caller.id);
    assert.equal((await findListed(operator, caller.id)).state, 'revoked');
  });

  test('10 concurrent rotations leave one valid successor', async (t) => {
    const { keys, openOther, verifier } = await prepare(t);
    const { id } = await create(keys);
    const other = await openOther();
    const keyrings = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? keys : other));
    const issued = await Promise.all(keyrings.map((keyring) => keyring.rotate(id, minuteMs)));
    const found = await Promise.all(issued.map(({ key }) => verifier.verifyAgain(key)));
    assert.equal(found.filter((verification) => 'caller' in verification).length, 1);
  });

  test('a key that is deleted, also in the millisecond of its expiry, is neither listed nor found', async (t) => {
    const { keys, caller, clock, listIds } = await prepare(t);
    const passing = await create(keys, minuteMs);
    const rotated = await create(keys);
    clock.advance(minuteMs);
    const { id } = await keys.rotate(rotated.id, 0);
    for (const ended of [passing, rotated]) {
      await keys.revoke(ended.id);
      await assert.rejects(keys.revoke(ended.id), { code: 'not_found' });
      await assert.rejects(keys.rotate(ended.id, minuteMs), { code: 'not_found' });
    }
    assert.deepEqual((await listIds()).toSorted(), [caller.id, id].toSorted());
  });

  test('unknown ids and the keys of another account are neither listed nor found', async (t) => {
    const { keys, caller, operator, listIds } = await prepare(t);
    const foreign = await operator.issue(order({ account: 'Other', scopes }));
    assert.deepEqual(await listIds(), [caller.id]);
    for (const id of ['key_none', 'key_3kTMd8fZq1LxW0aB', '\u0000', "key_'", foreign.id]) {
      await assert.rejects(keys.revoke(id), { code: 'not_found' });
      await assert.rejects(keys.rotate(id, minuteMs), { code: 'not_found' });
    }
    assert.equal((await findListed(operator, foreign.id)).state, 'active');
  });

  test('a key changes no key if it was revoked after its authentication, or if its account is suspended', async (t) => {
    const { keys, caller, operator, accounts } = await prepare(t);
    const { id } = await create(keys);
    await accounts.suspend('Zoo');
    await assert.rejects(create(keys), { code: 'account_suspended' });
    await accounts.resume('Zoo');
    await operator.revoke(caller.id);
    const changes = [create(keys), keys.rotate(id, 0), keys.revoke(id)];
    await Promise.all(changes.map((change) => assert.rejects(change, { code: 'api_key_revoked' })));
    assert.equal((await findListed(operator, id)).state, 'active');
  });

  test('the audit log has exactly the changes that were not refused, without secrets', async (t) => {
    const { keys, keyringOf, caller, operator, store } = await prepare(t);
    const made = await create(keys, minuteMs);
    const successor = await keys.rotate(made.id, secondMs);
    await keys.revoke(successor.id);
    const narrow = await operator.issue(order({ account: 'Zoo', scopes: ['keys:manage'] }));
    await assert.rejects(create(keyringOf(narrow.id)), { code: 'scope_missing' });
    await assert.rejects(keyringOf(narrow.id).revoke('key_3kTMd8fZq1LxW0aB'), { code: 'not_found' });
    const sql = `select actor, action, subject, after from audit where actor_kind = 'key' order by id`;
    const rows = await store.execute<Record<string, string>>(sql);
    assert.deepEqual(fieldsOf(rows, 'actor', 'action', 'subject'), [
      [caller.id, 'key.created', made.id],
      [caller.id, 'key.rotated', made.id],
      [caller.id, 'key.created', successor.id],
      [caller.id, 'key.revoked', successor.id],
    ]);
    assert.match(rows[2]?.['after'] ?? '', new RegExp(`"inPlaceOf":"${made.id}"`));
    for (const { key } of [made, successor]) assert.ok(!JSON.stringify(rows).includes(key.slice(7)));
  });

  test('the account data counts only unexpired holds of open orders', async (t) => {
    const { database, store, accountId } = await prepare(t);
    assert.equal(await countOpenHolds(database, accountId), 0n);
    const [pastMs, futureMs] = [Date.now() - hourMs, Date.now() + hourMs];
    await store.execute(`insert into orders (account_id, pet_id, status, created_at_ms, expires_at_ms, closed_at_ms)
      values (${accountId}, 1, 'reserved', 0, ${futureMs}, null), (${accountId}, 2, 'reserved', 0, ${pastMs}, null),
        (${accountId}, 3, 'cancelled', 0, ${futureMs}, 1), (${accountId}, 4, 'reserved', 0, ${futureMs}, null)`);
    assert.equal(await countOpenHolds(database, accountId), 2n);
  });
});
