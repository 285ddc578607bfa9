import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { createKeyVerifier, freshMs } from '../../src/accounts/key-verifier.ts';
import { createKeyring } from '../../src/accounts/keyring.ts';
import { computeEtag } from '../../src/etag.ts';
import { hashIdempotencyKey } from '../../src/idempotency/answer-once.ts';
import type { Catalogue } from '../../src/pets/catalogue.ts';
import { writePet } from '../../src/pets/pet.ts';
import { resolvePlan } from '../../src/plans/plan.ts';
import type { Soon } from '../../src/soon.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { findPostgres } from '../support/engines.ts';
import { startCounting } from '../support/postgres-messages.ts';
import { createMovableClock } from '../support/service.ts';

const postgres = await findPostgres();
const rex = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
const bodyHash = createHash('sha256').update('body').digest();

function keyed(accountId: bigint, key: string) {
  return { accountId, keyHash: hashIdempotencyKey(accountId, key), operation: 'createPet', bodyHash };
}

/** Creates a catalogue and the keys of one account over a connection that counts round trips. */
async function prepare(t: TestContext) {
  const store = await postgres.createStore(t);
  const way = await startCounting(t, store.url);
  const database = await store.open(way.url);
  const clock = createMovableClock();
  const keyring = createKeyring(database, clock.now, 'dev');
  const plan = resolvePlan('free', {});
  assert.ok(!('problem' in plan));
  const { key } = await keyring.issue({ account: 'a', plan, scopes: null, lifetimeMs: null });
  const verifier = createKeyVerifier(database, clock.now);
  const verification = await verifier.verify(key);
  assert.ok('caller' in verification);
  const { accountId } = verification.caller;
  const catalogue = openCatalogue(database);

  /** Returns the number of round trips of an operation. */
  async function count(operation: () => Soon<unknown>): Promise<number> {
    const before = way.countRoundTrips();
    await operation();
    return way.countRoundTrips() - before;
  }
  return { store, clock, catalogue, verifier, key, accountId, count };
}

describe('round trips to PostgreSQL', { skip: postgres.skip }, () => {
  const operations: [string, (catalogue: Catalogue) => Soon<unknown>][] = [
    ['a list', (catalogue) => catalogue.list({ limit: 20, status: null, newestId: null })],
    ['a list of a status', (catalogue) => catalogue.list({ limit: 20, status: 'sold', newestId: 9n })],
    ['a read of one animal', (catalogue) => catalogue.get(1n)],
    ['an add', (catalogue) => catalogue.add(rex)],
  ];
  for (const [name, operation] of operations)
    test(`${name} takes one round trip`, async (t) => {
      const { catalogue, count } = await prepare(t);
      for (let times = 0; times < 3; times += 1) assert.equal(await count(() => operation(catalogue)), 1);
    });

  test('all reads of one event loop turn share one round trip, and so do all adds', async (t) => {
    const { catalogue, count } = await prepare(t);
    await catalogue.add(rex);
    const all = async (operation: () => Soon<unknown>) => Promise.all(Array.from({ length: 20 }, operation));
    assert.equal(await count(() => all(() => catalogue.get(1n))), 1);
    assert.equal(await count(() => all(() => catalogue.add(rex))), 1);
  });

  test('the lookup of a new key takes one round trip, and of a cached key none', async (t) => {
    const { verifier, key, clock, count } = await prepare(t);
    clock.advance(freshMs);
    const verify = async () => verifier.verify(key);
    assert.equal(await count(verify), 1);
    assert.equal(await count(verify), 0);
  });

  test('an add with a new Idempotency-Key takes three round trips, and its retry takes two', async (t) => {
    const { catalogue, accountId, count } = await prepare(t);
    const add = (key: string) => count(() => catalogue.addOnce(rex, keyed(accountId, key), '/pets/'));
    assert.deepEqual([await add('a'), await add('b'), await add('a')], [3, 3, 2]);
  });

  test('a change and a deletion take two round trips each, with If-Match too', async (t) => {
    const { catalogue, count } = await prepare(t);
    for (let times = 0; times < 3; times += 1) await catalogue.add(rex);
    const tags = [computeEtag(writePet({ id: 2n, ...rex }))];
    assert.equal(await count(() => catalogue.change(1n, { name: 'a' }, null)), 2);
    assert.equal(await count(() => catalogue.remove(1n, null)), 2);
    assert.equal(await count(() => catalogue.change(2n, { name: 'a' }, tags)), 2);
  });

  test('200 concurrent changes of different animals take two round trips each, so that none is repeated', async (t) => {
    const { catalogue, count } = await prepare(t);
    async function* batches() {
      yield Array.from({ length: 208 }, () => rex);
    }
    await catalogue.load(batches());
    // These changes open the connections, each of which asks its server what it is.
    const opening = Array.from({ length: 8 }, (_, place) => BigInt(201 + place));
    await Promise.all(opening.map((id) => catalogue.change(id, { status: 'sold' }, null)));
    let next = 1n;
    const work = async () => {
      for (let id = next++; id <= 200n; id = next++) await catalogue.change(id, { status: 'sold' }, null);
    };
    assert.equal(await count(() => Promise.all(Array.from({ length: 8 }, work))), 400);
  });
});
