import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatKey, generateKey, hashKey, type KeyEnvironment } from '../../src/accounts/api-key.ts';
import { createKeyVerifier, freshMs, knownMs, type LookedUp, lane } from '../../src/accounts/key-verifier.ts';
import { hourMs, minuteMs, secondMs } from '../../src/clock.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { freeLimits } from '../../src/plans/plan.ts';
import type { Database } from '../../src/storage/database.ts';
import { describeOnEngines, sqliteEngine } from '../support/engines.ts';
import { createWorld, fieldOf, findListed, makePlan, order } from './world.ts';

const here = '192.0.2.7';
const elsewhere = '192.0.2.8';
const invalid = { refusal: 'api_key_invalid' };
const revoked = { refusal: 'api_key_revoked' };
const expired = { refusal: 'api_key_expired' };
const unavailable = { name: 'AppError', code: 'unavailable' };

/** Counts the calls of a database. After `hold`, its reads run at once, but return their rows only after `release`. */
function watch(database: Database) {
  let held = Promise.withResolvers<void>();
  held.resolve();
  const calls: unknown[][] = [];
  const watched: Database = {
    ...database,
    async read(...call) {
      calls.push(call);
      const rows = await database.read(...call);
      await held.promise;
      return rows;
    },
    transact(...call) {
      calls.push(call);
      return database.transact(...call);
    },
  };
  const hold = () => {
    held = Promise.withResolvers();
  };
  return { watched, calls, hold, release: () => held.resolve() };
}

/** Opens a verifier and the limits of addresses over a watched store. */
async function open(t: TestContext, engine = sqliteEngine, options = {}) {
  const world = await createWorld(t, engine);
  const { clock, keyring } = world;
  const { watched, ...watching } = watch(world.database);
  const limiter = createLimiter({ counters: createMemoryCounters(), clock: clock.now });
  const { findRefusal } = limiter;
  const verifier = createKeyVerifier(watched, clock.now, { findRefusal, ...options });
  const verify = (key: string, address = here) => verifier.verify(key, address);

  /** Verifies a key as the request pipeline does: a failed lookup counts for the address. */
  async function ask(key: string, address = here): Promise<string> {
    const found = await verify(key, address);
    if ('refusal' in found) return (await limiter.takeForAddress(address)).code ?? found.refusal;
    return 'caller' in found ? 'caller' : String(found.decision.code);
  }
  const askMany = (count: number, address = here, key?: string) =>
    Promise.all(Array.from({ length: count }, () => ask(key ?? generateKey('stg'), address)));
  function spend(address = here): void {
    for (let sent = 0; sent < freeLimits.perMinute; sent += 1) limiter.takeForAddress(address);
  }
  const issue = async (changes?: Parameters<typeof order>[0]) => await keyring.issue(order(changes));
  return { ...world, ...watching, watched, limiter, verifier, verify, ask, askMany, spend, issue };
}

function callerOf(found: LookedUp | Promise<LookedUp>) {
  assert.ok('caller' in found);
  return found.caller;
}

await describeOnEngines('verifying keys', (engine) => {
  test('finds the account of a key with its plan, its limits and the known scopes', async (t) => {
    const { verify, issue, store } = await open(t, engine);
    const plan = makePlan('enterprise', 7, 10);
    const { key, id } = await issue({ account: 'Zoo', plan, name: 'Till' });
    await store.execute(`update api_keys set scopes = 'pets:write fish:read pets:read'`);
    assert.deepEqual(callerOf(await verify(key)), {
      accountId: 1n,
      accountName: 'Zoo',
      keyId: id,
      keyName: 'Till',
      keyExpiresAtMs: null,
      plan: 'enterprise',
      limits: { perMinute: 7, perDay: 10 },
      scopes: ['pets:read', 'pets:write'],
      isSuspended: false,
    });
  });

  test('writes the minute of the last use once a minute', async (t) => {
    const { keyring, verify, verifier, issue, calls, clock } = await open(t, engine);
    const [used, unused] = [await issue(), await issue()];
    clock.advance(minuteMs - 1);
    await verify(used.key);
    await verifier.flush();
    const lastUse = async (id: string) => (await findListed(keyring, id)).lastUsedAtMs;
    assert.equal(await lastUse(used.id), clock.now() - minuteMs + 1);
    assert.equal(await lastUse(unused.id), null);
    clock.advance(1);
    calls.length = 0;
    const minute = clock.now();
    for (let second = 0; second < 60; second += 1) {
      await verify(used.key);
      await verifier.flush();
      clock.advance(secondMs);
    }
    assert.equal(await lastUse(used.id), minute);
    assert.equal(calls.length, 60 + 1);
  });

  test('writes no last use of a refused key', async (t) => {
    const { keyring, verify, verifier, issue } = await open(t, engine);
    const { key, id } = await issue();
    await keyring.revoke(id);
    await verify(key);
    await verifier.flush();
    assert.equal((await findListed(keyring, id)).lastUsedAtMs, null);
  });

  test('does not set the last use back if an instance writes an older use late', async (t) => {
    const { keyring, verify, verifier, issue, store, clock } = await open(t, engine);
    const { key, id } = await issue();
    await verify(key);
    clock.advance(minuteMs);
    const prompt = createKeyVerifier(await store.open(), clock.now);
    await prompt.verify(key, here);
    await prompt.flush();
    await verifier.flush();
    assert.equal((await findListed(keyring, id)).lastUsedAtMs, clock.now());
  });
});

describe('a key', () => {
  test('that is mistyped or of another environment is refused synchronously and without a query', async (t) => {
    const { verify, issue, watched, clock, calls } = await open(t);
    const { key } = await issue();
    const spoiled = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (const text of [spoiled, key.slice(1), `${key}0`, 'secret', '', key.replace('stg', 'live')])
      assert.deepEqual(verify(text), invalid);
    const verifyIn = (environment: KeyEnvironment) =>
      createKeyVerifier(watched, clock.now, { environment }).verify(key, here);
    assert.deepEqual(verifyIn('live'), invalid);
    assert.equal(calls.length, 0);
    callerOf(await verifyIn('stg'));
  });

  test('is looked up by its SHA-256, which reveals no part of a valid key', async (t) => {
    const { issue, verify, calls } = await open(t);
    const { key } = await issue();
    const body = key.slice('as_stg_'.length, -6);
    const guesses = [4, 12, body.length - 1].map((known) =>
      formatKey('stg', body.slice(0, known).padEnd(22, 'a')),
    );
    for (const text of guesses) assert.deepEqual(await verify(text), invalid);
    callerOf(await verify(key));
    const hashes = [...guesses, key].map((text) => ({ secretHash: hash('sha256', text, 'buffer') }));
    assert.deepEqual(fieldOf(calls, 1), hashes);
    assert.equal(new Set(fieldOf(calls, 0)).size, 1);
  });

  test('is remembered for a second unless it is unknown', async (t) => {
    const { keyring, verify, issue, spend, calls, clock } = await open(t);
    const [valid, ended] = [await issue(), await issue()];
    await keyring.revoke(ended.id);
    const found = await verify(valid.key);
    assert.deepEqual(await verify(ended.key), revoked);
    clock.advance(freshMs - 1);
    spend();
    assert.equal(verify(valid.key), found);
    assert.deepEqual(verify(ended.key), revoked);
    assert.equal(calls.length, 2);
    const unknown = generateKey('stg');
    for (let count = 0; count < 3; count += 1) assert.deepEqual(await verify(unknown), invalid);
    assert.equal(calls.length, 5);
  });

  test('is refused from the millisecond of its expiry on, even if it is remembered', async (t) => {
    const { verify, issue, clock } = await open(t);
    const { key } = await issue({ lifetimeMs: hourMs });
    for (const passedMs of [hourMs - 300, 299]) {
      clock.advance(passedMs);
      callerOf(await verify(key));
    }
    clock.advance(1);
    assert.deepEqual(await verify(key), expired);
  });

  test('is read again after a second and if the clock was set back, so that changes of other instances apply', async (t) => {
    const { keyring, accounts, verify, issue, clock } = await open(t);
    const { key, id, account } = await issue();
    callerOf(await verify(key));
    await accounts.setPlan(account, makePlan('enterprise', 5, 6));
    clock.advance(freshMs);
    const { plan, limits } = callerOf(await verify(key));
    assert.deepEqual([plan, limits], ['enterprise', { perMinute: 5, perDay: 6 }]);
    const successor = await keyring.rotate(id, 10 * secondMs);
    callerOf(await verify(successor.key));
    clock.advance(10 * secondMs - 1);
    callerOf(await verify(key));
    clock.advance(1);
    assert.deepEqual(await verify(key), expired);
    await keyring.revoke(successor.id);
    clock.advance(-hourMs);
    assert.deepEqual(await verify(successor.key), revoked);
  });

  test('is accepted only while it is remembered if the store is unavailable', async (t) => {
    const { verify, issue, watched, clock } = await open(t);
    const { key } = await issue();
    callerOf(await verify(key));
    await watched.close();
    clock.advance(freshMs - 1);
    callerOf(await verify(key));
    clock.advance(1);
    for (const text of [key, generateKey('stg')])
      await assert.rejects(async () => await verify(text), unavailable);
  });

  test('is forgotten if more keys than the memory holds were read after it', async (t) => {
    const { verify, issue, calls } = await open(t, sqliteEngine, { keysMax: 3 });
    const keys = await Array.fromAsync({ length: 4 }, async () => (await issue()).key);
    for (const key of keys) await verify(key);
    for (const key of keys.slice(1)) callerOf(verify(key));
    assert.equal(calls.length, 4);
    await verify(keys[0] ?? '');
    assert.equal(calls.length, 5);
  });
});

describe('simultaneous requests of a known key', () => {
  async function openHeld(t: TestContext, lifetimeMs = 24 * hourMs) {
    const opened = await open(t);
    const issued = await opened.issue({ lifetimeMs });
    await opened.verify(issued.key);
    opened.clock.advance(freshMs);
    opened.calls.length = 0;
    opened.hold();
    return { ...opened, ...issued };
  }

  test('cost at most two reads, however slow the first one is', async (t) => {
    const { keyring, verify, calls, clock, key, id, release } = await openHeld(t);
    const told: (LookedUp | Promise<LookedUp>)[] = [];
    const sendForSeconds = (seconds: number) => {
      for (const endMs = clock.now() + seconds * secondMs; clock.now() < endMs; clock.advance(10))
        told.push(verify(key));
    };
    sendForSeconds(2);
    await nextTurn();
    assert.equal(calls.length, 1);
    await keyring.revoke(id);
    sendForSeconds(1);
    release();
    // In the first second, a read from before the revocation may answer. Later, only a read from after it may.
    for (const [index, found] of (await Promise.all(told)).entries())
      if (index < 100) callerOf(found);
      else assert.deepEqual(found, revoked);
    assert.equal(calls.length, 2);
  });

  test('are refused if they arrive after the expiry of the key, even if an earlier read is still running', async (t) => {
    const { verify, clock, key, release } = await openHeld(t, hourMs);
    clock.advance(hourMs - freshMs - 1);
    const early = verify(key);
    clock.advance(1);
    const late = verify(key);
    release();
    callerOf(await early);
    assert.deepEqual(await late, expired);
  });

  test('are accepted if they arrive after the key was created, even if an earlier read is still running', async (t) => {
    const { verifier, store, calls, release } = await openHeld(t);
    const key = generateKey('stg');
    const early = Array.from({ length: 100 }, () => verifier.verifyAgain(key));
    await nextTurn();
    await store.execute(`insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
      values ('key_late', 1, x'${Buffer.from(hashKey(key)).toString('hex')}', '', '', 0)`);
    const late = verifier.verifyAgain(key);
    release();
    assert.deepEqual(await early[0], invalid);
    assert.equal(callerOf(await late).keyId, 'key_late');
    assert.equal(calls.length, 2);
  });
});

describe('the lane', () => {
  test('does not delay a key that was valid within the last hour', async (t) => {
    const { issue, clock, verify, ask, askMany, spend, hold, release, calls } = await open(t);
    const { key } = await issue();
    await ask(key);
    clock.advance(knownMs - 1);
    hold();
    const strangers = askMany(500);
    await nextTurn();
    const before = calls.length;
    const known = verify(key);
    assert.equal(calls.length, before + 1);
    release();
    callerOf(await known);
    await strangers;
    clock.advance(knownMs);
    spend();
    hold();
    const others = askMany(lane.spentMax + lane.runningMax);
    await nextTurn();
    assert.equal(await ask(key), 'rate_limit_exceeded');
    release();
    await others;
  });

  test('ends the simultaneous lookups of unknown keys once their address has used up its limit', async (t) => {
    const { askMany, hold, release, calls } = await open(t);
    hold();
    const answers = askMany(500);
    await nextTurn();
    assert.equal(calls.length, lane.runningMax);
    release();
    const codes = await answers;
    assert.equal(codes.filter((code) => code === 'api_key_invalid').length, freeLimits.perMinute);
    assert.deepEqual(new Set(codes), new Set(['api_key_invalid', 'rate_limit_exceeded']));
    assert.ok(calls.length <= freeLimits.perMinute + lane.runningMax + lane.spentMax, `${calls.length}`);
  });

  test('serves a new valid key from an address below its limit while unknown keys from other addresses wait', async (t) => {
    const { issue, ask, askMany, spend, hold, release } = await open(t);
    const { key } = await issue();
    spend(elsewhere);
    hold();
    const strangers = [askMany(200), askMany(200, elsewhere)];
    const good = ask(key, '192.0.2.9');
    release();
    assert.equal(await good, 'caller');
    await Promise.all(strangers);
  });

  test('serves 100 new valid keys that arrive at once from one address over its limit', async (t) => {
    const { issue, ask, spend } = await open(t);
    const keys = await Array.fromAsync({ length: 100 }, () => issue());
    spend();
    const answers = await Promise.all(keys.map(({ key }) => ask(key)));
    assert.deepEqual(new Set(answers), new Set(['caller']));
  });

  test('refuses an address over its limit without a query beyond its room', async (t) => {
    const { verify, limiter, askMany, spend, hold, release, calls } = await open(t);
    spend();
    hold();
    const waiting = askMany(lane.runningMax + lane.spentMax);
    await nextTurn();
    const found = await verify(generateKey('stg'));
    assert.ok('decision' in found);
    assert.deepEqual(found.decision, limiter.takeForAddress(here));
    assert.equal(found.decision.retryAfterSeconds, minuteMs / 1000);
    assert.equal(calls.length, lane.runningMax);
    release();
    await waiting;
    assert.equal(calls.length, lane.runningMax + lane.spentMax);
  });

  test('answers 503 to a lookup that has waited too long, unless its key is valid', async (t) => {
    const { issue, clock, ask, askMany, spend, hold, release, calls } = await open(t);
    const { key } = await issue();
    for (const count of [300, lane.runningMax + lane.spentMax]) {
      hold();
      const valid = askMany(count, here, key);
      const late = assert.rejects(ask(generateKey('stg'), elsewhere), unavailable);
      await nextTurn();
      clock.advance(lane.waitMsMax + 1);
      calls.length = 0;
      release();
      assert.deepEqual(await valid, Array(count).fill('caller'));
      await late;
      // The valid key is stale, so it is read again.
      assert.equal(calls.length, 1);
      clock.advance(knownMs);
      spend();
    }
  });

  test('is not blocked by lookups that fail with the store', async (t) => {
    const { watched, askMany, ask } = await open(t);
    await watched.close();
    for (let round = 0; round < 2; round += 1) await assert.rejects(ask(generateKey('stg')), unavailable);
    await assert.rejects(askMany(10), unavailable);
  });
});

test('the program never compares a stored hash of a key itself', async () => {
  const source = join(import.meta.dirname, '../../src/accounts');
  for (const file of await readdir(source)) {
    const text = await readFile(join(source, file), 'utf8');
    assert.doesNotMatch(text, /secret_?[hH]ash\)?\s*(?:===|!==|\.equals|\.compare|\.startsWith)/, file);
  }
});
