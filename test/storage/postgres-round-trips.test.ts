import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { createKeyVerifier, freshMs } from '../../src/accounts/key-verifier.ts';
import { createKeyring } from '../../src/accounts/keyring.ts';
import { computeEtag } from '../../src/etag.ts';
import { createFirstAnswers, hashIdempotencyKey } from '../../src/idempotency/answer-once.ts';
import { createOrders } from '../../src/orders/orders.ts';
import { writePet } from '../../src/pets/pet-values.ts';
import { resolvePlan } from '../../src/plans/plan.ts';
import type { Soon } from '../../src/promises.ts';
import { hold } from '../contracts/order-shop.ts';
import { importPets, openCatalogue } from '../support/catalogue.ts';
import { findPostgres } from '../support/engines.ts';
import { startCounting } from '../support/postgres-messages.ts';
import { createMovableClock } from '../support/service.ts';

const postgres = await findPostgres();
const rex = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
const bodyHash = hash('sha256', 'body', 'buffer');

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
  const verification = await verifier.verifyAgain(key);
  assert.ok('caller' in verification);
  const { accountId, keyId } = verification.caller;
  const catalogue = openCatalogue(database);

  async function count(operation: () => Soon<unknown>): Promise<number> {
    const before = way.countRoundTrips();
    await operation();
    return way.countRoundTrips() - before;
  }
  return { clock, database, catalogue, verifier, key, accountId, keyId, count };
}

describe('round trips to PostgreSQL', { skip: postgres.skip }, () => {
  test('an operation takes as many as it has steps that need the rows of another step', async (t) => {
    const { database, catalogue, verifier, key, accountId, keyId, clock, count } = await prepare(t);
    const orders = createOrders(database, createFirstAnswers(database));
    const reader = { accountId, keyId, nowMs: clock.now(), isManager: false };
    clock.advance(freshMs);
    for (let times = 0; times < 3; times += 1) await catalogue.add(rex);
    const together = (operation: () => Soon<unknown>) => async () =>
      Promise.all(Array.from({ length: 20 }, operation));
    const get = () => catalogue.get(1n);
    const add = () => catalogue.add(rex);
    const addOnce = (name: string) => () => catalogue.addOnce(rex, keyed(accountId, name), '/pets/');
    let nextKey = 0;
    const verify = () => verifier.verifyAgain(key);
    const tags = [computeEtag(writePet({ id: 2n, ...rex }))];
    const operations: readonly (readonly [name: string, roundTrips: number, () => Soon<unknown>])[] = [
      ['a list', 1, () => catalogue.list({ limit: 20, status: null, newestId: null })],
      ['a list of a status', 1, () => catalogue.list({ limit: 20, status: 'sold', newestId: 9n })],
      ['a read of one animal', 1, get],
      ['reads of one turn of the event loop', 1, together(get)],
      ['an add', 1, add],
      ['adds of one turn of the event loop', 1, together(add)],
      ['the lookup of a new key', 1, verify],
      ['the lookup of a cached key', 0, verify],
      ['an add with a new Idempotency-Key', 3, addOnce('a')],
      ['an add with another one', 3, addOnce('b')],
      ['adds of one turn, each with a key', 3, together(() => addOnce(`together ${nextKey++}`)())],
      ['its retry', 2, addOnce('a')],
      ['a change', 2, () => catalogue.change(1n, { name: 'a' }, null)],
      ['a deletion', 2, () => catalogue.remove(1n, null)],
      ['a change with If-Match', 2, () => catalogue.change(2n, { name: 'a' }, tags)],
      ['an order', 3, () => orders.place({ ...hold, petId: 2n }, reader, null)],
      ['an order with a key', 4, () => orders.place({ ...hold, petId: 3n }, reader, keyed(accountId, 'c'))],
    ];
    for (const [name, roundTrips, operation] of operations)
      assert.equal(await count(operation), roundTrips, name);
  });

  test('200 concurrent changes of different animals take two round trips each, so that none is repeated', async (t) => {
    const { database, catalogue, count } = await prepare(t);
    await importPets(database, Array(208).fill(rex));
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
