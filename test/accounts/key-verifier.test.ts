import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { formatKey, generateKey, hashKey, type KeyEnvironment } from '../../src/accounts/api-key.ts';
import { insertApiKey } from '../../src/accounts/key-rows.ts';
import { createKeyVerifier, freshMs, type LookedUp } from '../../src/accounts/key-verifier.ts';
import { hourMs, minuteMs, secondMs } from '../../src/clock.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Engine } from '../support/engines.ts';
import { createWorld, engines, findListed, makePlan, order } from './world.ts';
import { countCalls, holdAnswers } from './wrapped-database.ts';

const invalid = { refusal: 'api_key_invalid' };

/** Creates a verifier over a database that counts its calls, with a keyring and accounts over the same store. */
async function createService(t: TestContext, engine: Engine, keysMax?: number) {
  const world = await createWorld(t, engine);
  const database = countCalls(world.database);
  return {
    ...world,
    database,
    calls: database.calls,
    verifier: createKeyVerifier(database, world.clock.now, keysMax === undefined ? {} : { keysMax }),
  };
}

function callerOf(verification: LookedUp) {
  assert.ok('caller' in verification);
  return verification.caller;
}

function spoil(key: string): string {
  return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
}

for (const engine of engines)
  describe(`verifying keys on ${engine.name}`, { skip: engine.skip }, () => {
    test('finds the account of a key with its plan, its limits and the scopes', async (t) => {
      const { keyring, verifier } = await createService(t, engine);
      const plan = makePlan('enterprise', 7, 10);
      const { key, id } = await keyring.issue(
        order({ account: 'Zoo', plan, name: 'Till', scopes: ['pets:read'] }),
      );
      const { accountId, ...caller } = callerOf(await verifier.verifyAgain(key));
      assert.equal(typeof accountId, 'bigint');
      assert.deepEqual(caller, {
        accountName: 'Zoo',
        keyId: id,
        keyName: 'Till',
        keyExpiresAtMs: null,
        plan: 'enterprise',
        limits: { perMinute: 7, perDay: 10 },
        scopes: ['pets:read'],
        isSuspended: false,
      });
    });

    test('refuses a mistyped key and a key of another environment synchronously and without a query', async (t) => {
      const { keyring, verifier, clock, database, calls } = await createService(t, engine);
      const { key } = await keyring.issue(order());
      for (const text of [spoil(key), key.slice(1), `${key}0`, 'secret', '', key.replace('stg', 'live')])
        assert.deepEqual(verifier.verifyAgain(text), invalid);
      const verify = (environment: KeyEnvironment) =>
        createKeyVerifier(database, clock.now, { environment }).verifyAgain(key);
      assert.deepEqual(await verify('live'), invalid);
      assert.equal(calls(), 0);
      callerOf(await verify('stg'));
    });

    test('looks a key and every guess up in one way, by the SHA-256 of the whole text, which reveals no part of a valid key', async (t) => {
      const { keyring, database, clock } = await createWorld(t, engine);
      const { key } = await keyring.issue(order());
      const body = key.slice('as_stg_'.length, -6);
      const texts = [4, 12, body.length - 1].map((known) =>
        formatKey('stg', body.slice(0, known) + body.slice(known).replaceAll(/./g, 'a')),
      );
      const reads: unknown[][] = [];
      const read: Database['read'] = (...call) => {
        reads.push(call);
        return database.read(...call);
      };
      const verifier = createKeyVerifier({ ...database, read }, clock.now);
      for (const text of texts) assert.deepEqual(await verifier.verifyAgain(text), invalid);
      callerOf(await verifier.verifyAgain(key));
      const hashes = [...texts, key].map((text) => ({ secretHash: hash('sha256', text, 'buffer') }));
      assert.deepEqual(
        reads.map(([, parameters]) => parameters),
        hashes,
      );
      assert.equal(new Set(reads.map(([statement]) => statement)).size, 1);
    });

    test('reads a key once and then answers synchronously', async (t) => {
      const { keyring, verifier, calls, clock } = await createService(t, engine);
      const { key } = await keyring.issue(order());
      const read = await verifier.verifyAgain(key);
      clock.advance(freshMs - 1);
      assert.equal(verifier.verifyAgain(key), read);
      assert.equal(await verifier.verifyAgain(key), read);
      assert.equal(calls(), 1);
    });

    test('does not cache unknown keys', async (t) => {
      const { verifier, calls } = await createService(t, engine);
      const unknown = generateKey('stg');
      for (let count = 0; count < 3; count += 1)
        assert.deepEqual(await verifier.verifyAgain(unknown), invalid);
      assert.equal(calls(), 3);
    });

    test('refuses a key from the millisecond of its expiry on, even if the key is cached', async (t) => {
      const { keyring, verifier, clock } = await createService(t, engine);
      const { key } = await keyring.issue(order({ lifetimeMs: hourMs }));
      clock.advance(hourMs - 300);
      callerOf(await verifier.verifyAgain(key));
      clock.advance(299);
      callerOf(await verifier.verifyAgain(key));
      clock.advance(1);
      assert.deepEqual(await verifier.verifyAgain(key), { refusal: 'api_key_expired' });
    });

    test('caches the refusal of a known key', async (t) => {
      const { keyring, verifier, calls } = await createService(t, engine);
      const { key, id } = await keyring.issue(order());
      await keyring.revoke(id);
      assert.deepEqual(await verifier.verifyAgain(key), { refusal: 'api_key_revoked' });
      assert.deepEqual(verifier.verifyAgain(key), { refusal: 'api_key_revoked' });
      assert.equal(calls(), 1);
    });

    test('applies a rotation once the cached entry expires, and accepts the new key immediately', async (t) => {
      const { keyring, openOther, verifier, clock } = await createService(t, engine);
      const old = await keyring.issue(order());
      callerOf(await verifier.verifyAgain(old.key));
      const { key } = await (await openOther()).rotate(old.id, 10 * secondMs);
      callerOf(await verifier.verifyAgain(key));
      clock.advance(10 * secondMs - 1);
      callerOf(await verifier.verifyAgain(old.key));
      clock.advance(1);
      assert.deepEqual(await verifier.verifyAgain(old.key), { refusal: 'api_key_expired' });
      callerOf(await verifier.verifyAgain(key));
    });

    test('applies a change of plan once the cached entry expires', async (t) => {
      const { keyring, accounts, verifier, clock } = await createService(t, engine);
      const { key, account } = await keyring.issue(order());
      callerOf(await verifier.verifyAgain(key));
      await accounts.setPlan(account, makePlan('enterprise', 5, 6));
      clock.advance(freshMs);
      const { plan, limits } = callerOf(await verifier.verifyAgain(key));
      assert.deepEqual([plan, limits], ['enterprise', { perMinute: 5, perDay: 6 }]);
    });

    test('reads a key again if the clock was set back', async (t) => {
      const { keyring, verifier, clock } = await createService(t, engine);
      const { key, id } = await keyring.issue(order());
      callerOf(await verifier.verifyAgain(key));
      await keyring.revoke(id);
      clock.advance(-hourMs);
      assert.deepEqual(await verifier.verifyAgain(key), { refusal: 'api_key_revoked' });
    });

    test('accepts a cached key only until its entry expires if the database is unavailable', async (t) => {
      const { keyring, verifier, database, clock } = await createService(t, engine);
      const { key } = await keyring.issue(order());
      callerOf(await verifier.verifyAgain(key));
      await database.close();
      clock.advance(freshMs - 1);
      callerOf(await verifier.verifyAgain(key));
      clock.advance(1);
      for (const text of [key, generateKey('stg')])
        await assert.rejects(async () => verifier.verifyAgain(text), {
          name: 'AppError',
          code: 'unavailable',
        });
    });

    test('caches a bounded number of keys and evicts the key that was read first', async (t) => {
      const { keyring, verifier, calls } = await createService(t, engine, 3);
      const [a = '', b = '', c = '', d = ''] = await Promise.all(
        ['a', 'b', 'c', 'd'].map(async (account) => (await keyring.issue(order({ account }))).key),
      );
      for (const key of [a, b, c, d]) await verifier.verifyAgain(key);
      assert.equal(calls(), 4);
      for (const key of [b, c, d]) assert.ok('caller' in verifier.verifyAgain(key));
      assert.equal(calls(), 4);
      await verifier.verifyAgain(a);
      assert.equal(calls(), 5);
    });
  });

for (const engine of engines)
  describe(`simultaneous requests of one key on ${engine.name}`, { skip: engine.skip }, () => {
    /** Creates a verifier whose first reads get their answers when the test calls `release`. */
    async function createHeld(t: TestContext) {
      const world = await createWorld(t, engine);
      const counted = countCalls(world.database);
      const held = holdAnswers(counted);
      const verifier = createKeyVerifier(held, world.clock.now);
      return { ...world, calls: counted.calls, release: held.release, firstRows: held.firstRows, verifier };
    }

    test('cost one read', async (t) => {
      const { keyring, verifier, calls, release } = await createHeld(t);
      const { key } = await keyring.issue(order());
      const verifications = Array.from({ length: 100 }, async () => verifier.verifyAgain(key));
      release();
      for (const verification of await Promise.all(verifications)) callerOf(verification);
      assert.equal(calls(), 1);
    });

    test('cost one more read if the first read is slow, however many requests arrive meanwhile', async (t) => {
      const { keyring, verifier, calls, clock, firstRows, release } = await createHeld(t);
      const { key, id } = await keyring.issue(order());
      const verifications: (LookedUp | Promise<LookedUp>)[] = [];
      const sendForSeconds = (seconds: number) => {
        for (const endMs = clock.now() + seconds * secondMs; clock.now() < endMs; clock.advance(10))
          verifications.push(verifier.verifyAgain(key));
      };
      sendForSeconds(2);
      await firstRows;
      await keyring.revoke(id);
      sendForSeconds(1);
      release();
      const told = await Promise.all(verifications);
      assert.equal(calls(), 2);
      // In the first second, a read from before the revocation may answer. Later, only a read from after it may.
      for (const verification of told.slice(0, 100)) callerOf(verification);
      for (const verification of told.slice(100))
        assert.deepEqual(verification, { refusal: 'api_key_revoked' });
    });

    test('cost one more read if the key is unknown', async (t) => {
      const { verifier, calls, release } = await createHeld(t);
      const unknown = generateKey('stg');
      const verifications = Array.from({ length: 100 }, async () => verifier.verifyAgain(unknown));
      release();
      for (const verification of await Promise.all(verifications)) assert.deepEqual(verification, invalid);
      assert.equal(calls(), 2);
    });

    test('are accepted if they arrive after the key was created, even if an earlier read is still running', async (t) => {
      const { accounts, database, verifier, firstRows, release } = await createHeld(t);
      await accounts.create('Zoo', makePlan('free'));
      const key = generateKey('stg');
      const early = verifier.verifyAgain(key);
      await firstRows;
      await database.run(insertApiKey, {
        id: 'key_late',
        account_id: await accounts.findId('Zoo'),
        secret_hash: hashKey(key),
        visible_start: '',
        name: null,
        scopes: '',
        created_at_ms: 0n,
        expires_at_ms: null,
      });
      const late = verifier.verifyAgain(key);
      release();
      assert.deepEqual(await early, invalid);
      assert.equal(callerOf(await late).keyId, 'key_late');
    });

    test('are refused if they arrive after the expiry of the key, even if an earlier read is still running', async (t) => {
      const { keyring, verifier, clock, release } = await createHeld(t);
      const { key } = await keyring.issue(order({ lifetimeMs: hourMs }));
      clock.advance(hourMs - 1);
      const early = verifier.verifyAgain(key);
      clock.advance(1);
      const late = verifier.verifyAgain(key);
      release();
      callerOf(await early);
      assert.deepEqual(await late, { refusal: 'api_key_expired' });
    });
  });

for (const engine of engines)
  describe(`the last use of keys on ${engine.name}`, { skip: engine.skip }, () => {
    test('is listed with minute precision once it is written, and is absent without a use and for a refused key', async (t) => {
      const { keyring, verifier, clock } = await createService(t, engine);
      const used = await keyring.issue(order());
      const unused = await keyring.issue(order());
      const revoked = await keyring.issue(order());
      await keyring.revoke(revoked.id);
      clock.advance(59_999);
      for (const { key } of [used, revoked]) await verifier.verifyAgain(key);
      await verifier.flush();
      assert.equal((await findListed(keyring, used.id)).lastUsedAtMs, clock.now() - 59_999);
      for (const { id } of [unused, revoked])
        assert.equal((await findListed(keyring, id)).lastUsedAtMs, null);
    });

    test('is recorded in the minute of the use, even if the key was cached in an earlier minute', async (t) => {
      const { keyring, verifier, clock } = await createService(t, engine);
      const { key, id } = await keyring.issue(order());
      clock.advance(minuteMs - 1);
      await verifier.verifyAgain(key);
      clock.advance(1);
      await verifier.verifyAgain(key);
      await verifier.flush();
      assert.equal((await findListed(keyring, id)).lastUsedAtMs, clock.now());
    });

    test('costs one write a minute, however often the key is used and the uses are flushed', async (t) => {
      const { keyring, verifier, calls, clock } = await createService(t, engine);
      const { key } = await keyring.issue(order());
      let reads = 0;
      for (let second = 0; second < 60; second += 1) {
        await verifier.verifyAgain(key);
        reads += 1;
        await verifier.flush();
        clock.advance(secondMs);
      }
      assert.equal(calls() - reads, 1);
    });

    test('is not set back if an instance writes an older use late', async (t) => {
      const { keyring, verifier, store, clock } = await createService(t, engine);
      const { key, id } = await keyring.issue(order());
      await verifier.verifyAgain(key);
      clock.advance(minuteMs);
      const prompt = createKeyVerifier(await store.open(), clock.now);
      await prompt.verifyAgain(key);
      await prompt.flush();
      await verifier.flush();
      assert.equal((await findListed(keyring, id)).lastUsedAtMs, clock.now());
    });
  });

test('the program never compares a stored hash of a key itself', async () => {
  const source = join(import.meta.dirname, '../../src/accounts');
  for (const file of await readdir(source)) {
    const text = await readFile(join(source, file), 'utf8');
    assert.doesNotMatch(text, /secret_?[hH]ash\)?\s*(?:===|!==|\.equals|\.compare|\.startsWith)/, file);
  }
});
