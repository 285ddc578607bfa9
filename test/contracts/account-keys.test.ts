import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Scope, scopes } from '../../src/accounts/account.ts';
import { type AccountKeys, type CallingKey, createAccountKeys } from '../../src/accounts/account-keys.ts';
import { createReadStanding } from '../../src/accounts/key-standing.ts';
import { createKeyVerifier } from '../../src/accounts/key-verifier.ts';
import type { IssuedKey, KeyOrder } from '../../src/accounts/keyring.ts';
import { liveKeysMax } from '../../src/accounts/schemas.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/clock.ts';
import type { AppError } from '../../src/errors.ts';
import { createWorld, findListed, order } from '../accounts/world.ts';
import { type Engine, findEngines } from '../support/engines.ts';

const dayOfSeconds = dayMs / 1_000;

/** The promises of src/accounts/account-keys.ts, on any engine. */
function describeAccountKeys(engine: Engine): void {
  async function prepare(t: TestContext, changes: Partial<KeyOrder> = {}) {
    const world = await createWorld(t, engine);
    const { database, clock, keyring, store } = world;
    const verifier = createKeyVerifier(database, clock.now);
    const keys = createAccountKeys(database, clock.now, 'stg', verifier);
    const issued = await keyring.issue(order({ account: 'Zoo', scopes, ...changes }));
    const asker = await toAsker(world, issued);
    const openOtherKeys = async () => createAccountKeys(await store.open(), clock.now, 'stg', verifier);
    return { ...world, keys, verifier, asker, issued, openOtherKeys };
  }

  async function toAsker({ store }: Awaited<ReturnType<typeof createWorld>>, issued: IssuedKey) {
    const rows = await store.execute(`select account_id from api_keys where id = '${issued.id}'`);
    const [row] = rows as { account_id: number | string }[];
    return { keyId: issued.id, accountId: BigInt(row?.account_id ?? 0) };
  }

  async function create(keys: AccountKeys, asker: CallingKey, lifetimeSeconds: number | null = null) {
    return keys.create(asker, { name: null, scopes: ['pets:read'], lifetimeSeconds });
  }

  async function listIds(keys: AccountKeys, { accountId }: CallingKey, limit = 100): Promise<string[]> {
    const ids: string[] = [];
    let firstId: string | null = null;
    do {
      const page: Awaited<ReturnType<AccountKeys['list']>> = await keys.list(accountId, limit, firstId);
      ids.push(...page.items.map(({ id }) => id));
      firstId = page.next;
    } while (firstId !== null);
    return ids;
  }

  describe(`the keys of an account over HTTP on ${engine.name}`, { skip: engine.skip }, () => {
    test('a key creates another of its account, and the list does not show its text', async (t) => {
      const { keys, asker, keyring, clock } = await prepare(t);
      clock.advance(1);
      const made = await keys.create(asker, {
        name: 'Wärehouse',
        scopes: ['pets:read', 'pets:write'],
        lifetimeSeconds: 60,
      });
      const { key, ...shown } = made;
      assert.match(key, /^as_stg_/);
      assert.equal(shown.expiresAt, new Date(clock.now() + minuteMs).toISOString());
      const { items: listed } = await keys.list(asker.accountId, 20, null);
      assert.deepEqual(listed[0], shown);
      const { account, name, plan } = await findListed(keyring, made.id);
      assert.deepEqual([account, name, plan], ['Zoo', 'Wärehouse', 'free']);
    });

    test('keys are listed newest first in pages of any length, even keys created in the same millisecond', async (t) => {
      const { keys, asker, clock } = await prepare(t);
      const made = [asker.keyId];
      for (let count = 0; count < 3; count += 1) made.push((await create(keys, asker)).id);
      clock.advance(1);
      const last = await create(keys, asker);
      const ids = await listIds(keys, asker);
      assert.equal(ids[0], last.id);
      assert.deepEqual(ids.toSorted(), [...made, last.id].toSorted());
      for (const limit of [1, 2, 3, 5]) assert.deepEqual(await listIds(keys, asker, limit), ids);
    });

    test('the next page can start at a key that was deleted after the previous page', async (t) => {
      const { keys, asker, clock } = await prepare(t);
      clock.advance(1);
      const second = await create(keys, asker);
      clock.advance(1);
      await create(keys, asker);
      const { next: nextId } = await keys.list(asker.accountId, 1, null);
      assert.equal(nextId, second.id);
      await keys.remove(asker, second.id);
      const rest = await keys.list(asker.accountId, 1, nextId);
      assert.deepEqual([rest.items[0]?.id, rest.next], [asker.keyId, null]);
    });

    test('a key can grant only scopes that it has or covers', async (t) => {
      const held: Scope[] = ['pets:read', 'orders:manage', 'keys:manage'];
      const { keys, asker } = await prepare(t, { scopes: held });
      for (const scope of scopes) {
        const granted = keys.create(asker, { name: null, scopes: [scope], lifetimeSeconds: null });
        if ([...held, 'orders:read', 'orders:write'].includes(scope)) await granted;
        else await assert.rejects(granted, { code: 'scope_missing', message: new RegExp(scope) });
      }
    });

    test('a new key expires with its creator by default, and cannot outlive it', async (t) => {
      const { keys, asker, clock } = await prepare(t, { lifetimeMs: dayMs });
      const end = new Date(clock.now() + dayMs).toISOString();
      assert.equal((await create(keys, asker)).expiresAt, end);
      assert.equal((await create(keys, asker, dayOfSeconds)).expiresAt, end);
      await assert.rejects(create(keys, asker, dayOfSeconds + 1), {
        code: 'invalid_body',
        message: /^expiresInSeconds /,
      });
      assert.equal((await listIds(keys, asker)).length, 3);
    });

    test('a new key does not expire if its creator does not', async (t) => {
      const { keys, asker } = await prepare(t);
      assert.equal((await create(keys, asker)).expiresAt, null);
    });

    test('an account has at most 25 active keys, even after concurrent requests', async (t) => {
      const { keys, asker, openOtherKeys } = await prepare(t);
      const other = await openOtherKeys();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 30 }, (_, n) => create(n % 2 === 0 ? keys : other, asker)),
      );
      const refused = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
      for (const { reason } of refused) assert.equal((reason as AppError).code, 'limit_reached');
      assert.equal((await listIds(keys, asker)).length, liveKeysMax);
    });

    test('expired, deleted and rotated keys do not count towards the limit of active keys', async (t) => {
      const { keys, asker, clock } = await prepare(t);
      const passing = await create(keys, asker, 60);
      for (let count = 2; count < liveKeysMax; count += 1) await create(keys, asker);
      await assert.rejects(create(keys, asker), { code: 'limit_reached' });
      clock.advance(minuteMs);
      const late = await create(keys, asker);
      await assert.rejects(create(keys, asker), { code: 'limit_reached' });
      await keys.remove(asker, late.id);
      const last = await create(keys, asker);
      await keys.rotate(asker, last.id, dayOfSeconds);
      await assert.rejects(create(keys, asker), { code: 'limit_reached' });
      const states = (await keys.list(asker.accountId, 100, null)).items.map(({ id, state }) => [id, state]);
      assert.deepEqual(new Map(states as [string, string][]).get(last.id), 'rotated');
      assert.deepEqual(new Map(states as [string, string][]).get(passing.id), 'expired');
    });

    test('the successor of a rotated key has the same name and scopes, and the old key stays valid for the overlap', async (t) => {
      const { keys, asker, keyring, clock } = await prepare(t);
      const old = await keys.create(asker, { name: 'till', scopes: ['pets:read'], lifetimeSeconds: 7_200 });
      clock.advance(hourMs);
      const successor = await keys.rotate(asker, old.id, 60);
      assert.deepEqual(
        [successor.name, successor.scopes, successor.expiresAt],
        ['till', ['pets:read'], new Date(clock.now() + 2 * hourMs).toISOString()],
      );
      const { state, expiresAtMs } = await findListed(keyring, old.id);
      assert.deepEqual([state, expiresAtMs], ['rotated', clock.now() + minuteMs]);
    });

    test('an overlap of 0 ends the old key at once, also in the cache of the instance that answers', async (t) => {
      const { keys, asker, verifier } = await prepare(t);
      const old = await create(keys, asker);
      assert.ok('caller' in (await verifier.verify(old.key)));
      const successor = await keys.rotate(asker, old.id, 0);
      assert.deepEqual(await verifier.verify(old.key), { refusal: 'api_key_expired' });
      assert.ok('caller' in (await verifier.verify(successor.key)));
      await keys.remove(asker, successor.id);
      assert.deepEqual(await verifier.verify(successor.key), { refusal: 'api_key_revoked' });
    });

    for (const overlapSeconds of [60, 0])
      test(`a key whose successor was never used can be rotated again, with its end of before, after an overlap of ${overlapSeconds} s`, async (t) => {
        const { keys, asker, verifier, clock } = await prepare(t);
        const old = await create(keys, asker, 7_200);
        clock.advance(hourMs);
        const lost = await keys.rotate(asker, old.id, overlapSeconds);
        clock.advance(secondMs);
        const successor = await keys.rotate(asker, old.id, 120);
        assert.equal(successor.expiresAt, old.expiresAt);
        const { items: listed } = await keys.list(asker.accountId, 100, null);
        const { key: text, ...shown } = successor;
        assert.deepEqual(
          listed.find(({ id }) => id === successor.id),
          shown,
        );
        assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set([successor.id, old.id, asker.keyId]));
        assert.deepEqual(await verifier.verify(lost.key), { refusal: 'api_key_revoked' });
        assert.ok('caller' in (await verifier.verify(text)));
        const oldNow = await verifier.verify(old.key);
        assert.equal('caller' in oldNow, overlapSeconds > 0, 'an ended overlap stays ended');
      });

    test('a key without an end that is rotated twice gets a successor without an end', async (t) => {
      const { keys, asker } = await prepare(t);
      const { id } = await create(keys, asker);
      await keys.rotate(asker, id, 60);
      assert.equal((await keys.rotate(asker, id, 60)).expiresAt, null);
    });

    test('a key that rotates itself twice gets a successor with its end of before', async (t) => {
      const { keys, asker } = await prepare(t);
      const { expiresAt } = await keys.rotate(asker, asker.keyId, 60);
      assert.equal((await keys.rotate(asker, asker.keyId, 60)).expiresAt, expiresAt);
    });

    test('a key whose successor was used cannot be rotated again', async (t) => {
      const { keys, asker, keyring, verifier } = await prepare(t);
      const { id } = await create(keys, asker);
      const successor = await keys.rotate(asker, id, 60);
      await verifier.verify(successor.key);
      await assert.rejects(keys.rotate(asker, id, 60), { code: 'key_rotated' });
      await assert.rejects(keyring.rotate(id, 60), {
        name: 'OperatorError',
        message: /rotate key_\w+ instead/,
      });
      const next = await keys.rotate(asker, successor.id, 60);
      await assert.rejects(keys.rotate(asker, id, 60), { code: 'key_rotated' });
      assert.equal((await findListed(keyring, next.id)).state, 'active');
    });

    test('a rotated key is not found once its end of before has passed', async (t) => {
      const { keys, asker, clock } = await prepare(t);
      const { id } = await create(keys, asker, 60);
      await keys.rotate(asker, id, 1);
      clock.advance(minuteMs);
      await assert.rejects(keys.rotate(asker, id, 1), { code: 'not_found' });
    });

    test('a key can rotate itself, and the successor does not expire later', async (t) => {
      const { keys, asker, clock } = await prepare(t, { lifetimeMs: dayMs });
      const end = new Date(clock.now() + dayMs).toISOString();
      clock.advance(hourMs);
      const successor = await keys.rotate(asker, asker.keyId, 0);
      assert.equal(successor.expiresAt, end);
      await assert.rejects(create(keys, asker), { code: 'api_key_expired' });
    });

    test('the successor of a key without expiry expires with the calling key', async (t) => {
      const world = await prepare(t);
      const passing = await world.keyring.issue(order({ account: 'Zoo', scopes, lifetimeMs: hourMs }));
      const asker = { ...world.asker, keyId: passing.id };
      const successor = await world.keys.rotate(asker, world.asker.keyId, 60);
      assert.equal(successor.expiresAt, new Date(world.clock.now() + hourMs).toISOString());
    });

    test('a key cannot rotate a key with more scopes, but can delete it', async (t) => {
      const world = await prepare(t);
      const narrow = await world.keyring.issue(order({ account: 'Zoo', scopes: ['keys:manage'] }));
      const asker = { ...world.asker, keyId: narrow.id };
      await assert.rejects(world.keys.rotate(asker, world.asker.keyId, 60), { code: 'scope_missing' });
      assert.equal((await findListed(world.keyring, world.asker.keyId)).state, 'active');
      await world.keys.remove(asker, world.asker.keyId);
      assert.equal((await findListed(world.keyring, world.asker.keyId)).state, 'revoked');
    });

    test('10 concurrent rotations leave one valid successor', async (t) => {
      const { keys, asker, openOtherKeys, verifier } = await prepare(t);
      const { id } = await create(keys, asker);
      const other = await openOtherKeys();
      const issued = await Promise.all(
        Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? keys : other).rotate(asker, id, 60)),
      );
      const found = await Promise.all(issued.map(({ key }) => verifier.verify(key)));
      assert.equal(found.filter((verification) => 'caller' in verification).length, 1);
    });

    test('a deleted key is neither listed nor found', async (t) => {
      const { keys, asker } = await prepare(t);
      const { id } = await create(keys, asker);
      await keys.remove(asker, id);
      assert.deepEqual(await listIds(keys, asker), [asker.keyId]);
      await assert.rejects(keys.remove(asker, id), { code: 'not_found' });
      await assert.rejects(keys.rotate(asker, id, 60), { code: 'not_found' });
    });

    test('a key that is deleted in the millisecond of its expiry is neither listed nor found', async (t) => {
      const { keys, asker, clock } = await prepare(t);
      const passing = await create(keys, asker, 60);
      const rotated = await create(keys, asker);
      clock.advance(minuteMs);
      const { id } = await keys.rotate(asker, rotated.id, 0);
      for (const ended of [passing, rotated]) {
        await keys.remove(asker, ended.id);
        await assert.rejects(keys.remove(asker, ended.id), { code: 'not_found' });
      }
      assert.deepEqual((await listIds(keys, asker)).toSorted(), [asker.keyId, id].toSorted());
    });

    for (const id of ['key_none', 'key_3kTMd8fZq1LxW0aB', '\u0000', "key_'"])
      test(`${JSON.stringify(id)} is not found as a key id`, async (t) => {
        const { keys, asker } = await prepare(t);
        await assert.rejects(keys.remove(asker, id), { code: 'not_found' });
        await assert.rejects(keys.rotate(asker, id, 60), { code: 'not_found' });
      });

    test('the keys of another account are neither listed nor found', async (t) => {
      const { keys, asker, keyring } = await prepare(t);
      const foreign = await keyring.issue(order({ account: 'Other', scopes }));
      assert.deepEqual(await listIds(keys, asker), [asker.keyId]);
      await assert.rejects(keys.remove(asker, foreign.id), { code: 'not_found' });
      await assert.rejects(keys.rotate(asker, foreign.id, 60), { code: 'not_found' });
      assert.equal((await findListed(keyring, foreign.id)).state, 'active');
    });

    test('a key changes no key if it was revoked after its authentication, or if its account is suspended', async (t) => {
      const { keys, asker, keyring, accounts } = await prepare(t);
      const { id } = await create(keys, asker);
      await accounts.suspend('Zoo');
      await assert.rejects(create(keys, asker), { code: 'account_suspended' });
      await accounts.resume('Zoo');
      await keyring.revoke(asker.keyId);
      await assert.rejects(create(keys, asker), { code: 'api_key_revoked' });
      await assert.rejects(keys.rotate(asker, id, 0), { code: 'api_key_revoked' });
      await assert.rejects(keys.remove(asker, id), { code: 'api_key_revoked' });
      assert.equal((await findListed(keyring, id)).state, 'active');
    });

    test('each change has a row in the audit log, with the actor and without secrets', async (t) => {
      const { keys, asker, store } = await prepare(t);
      const made = await create(keys, asker, 60);
      const successor = await keys.rotate(asker, made.id, 1);
      await keys.remove(asker, successor.id);
      const rows = (await store.execute(
        `select actor, action, subject, after from audit where actor_kind = 'key' order by id`,
      )) as Record<string, string>[];
      assert.deepEqual(
        rows.map(({ actor, action, subject }) => [actor, action, subject]),
        [
          [asker.keyId, 'key.created', made.id],
          [asker.keyId, 'key.rotated', made.id],
          [asker.keyId, 'key.created', successor.id],
          [asker.keyId, 'key.revoked', successor.id],
        ],
      );
      assert.match(rows[2]?.['after'] ?? '', new RegExp(`"inPlaceOf":"${made.id}"`));
      for (const { key } of [made, successor]) assert.ok(!JSON.stringify(rows).includes(key.slice(7)));
    });

    test('a refused change has no row in the audit log', async (t) => {
      const { keys, asker, store } = await prepare(t, { scopes: ['keys:manage'] });
      await assert.rejects(create(keys, asker), { code: 'scope_missing' });
      await assert.rejects(keys.remove(asker, 'key_3kTMd8fZq1LxW0aB'), { code: 'not_found' });
      assert.deepEqual(await store.execute(`select id from audit where actor_kind = 'key'`), []);
    });

    test('the account data counts only unexpired holds of open orders', async (t) => {
      const { database, store, asker, issued } = await prepare(t, { name: 'till' });
      const read = createReadStanding(database);
      const standing = { keyName: 'till', keyExpiresAt: null, openHolds: 0n };
      assert.deepEqual({ ...(await read(issued.id)) }, standing);
      const nowMs = Date.now();
      for (const [n, [account, endsAtMs, closedAtMs]] of [
        [asker.accountId, nowMs + hourMs, null],
        [asker.accountId, nowMs - hourMs, null],
        [asker.accountId, nowMs + hourMs, nowMs],
        [asker.accountId, nowMs + hourMs, null],
      ].entries())
        await store.execute(`insert into orders (account_id, pet_id, status, created_at_ms, expires_at_ms, closed_at_ms)
          values (${account}, ${n}, '${closedAtMs === null ? 'reserved' : 'cancelled'}', 0, ${endsAtMs}, ${closedAtMs})`);
      assert.deepEqual({ ...(await read(issued.id)) }, { ...standing, openHolds: 2n });
    });
  });
}

for (const engine of await findEngines()) describeAccountKeys(engine);
