import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import { parseExactJson } from '../../../src/exact-json.ts';
import { hashIdempotencyKey } from '../../../src/idempotency/answer-once.ts';
import { addAccount } from '../../contracts/store-contents.ts';
import { openCatalogue } from '../../support/catalogue.ts';
import { findPostgres } from '../../support/engines.ts';
import { startCounting } from '../../support/postgres-messages.ts';

const postgres = await findPostgres();
const adds = 50;
const places = [...Array(adds).keys()];

/** Opens a catalogue over a connection that counts round trips. An animal was added with each key `used 0`, `used 1`, … */
async function open(t: TestContext) {
  const store = await postgres.createStore(t);
  const way = await startCounting(t, store.url);
  const database = await store.open(way.url);
  const accountId = await addAccount(database, 'a', 'business');
  const catalogue = openCatalogue(database);

  const addOnce = (name: string, key: string) => {
    const bodyHash = new Uint8Array(Buffer.from(name.padEnd(32)));
    const keyHash = hashIdempotencyKey(accountId, key);
    const idempotency = { accountId, keyHash, operation: 'createPet', bodyHash };
    return catalogue.addOnce({ name, categoryId: 1n }, idempotency, '/pets/');
  };
  await Promise.all(places.map((place) => addOnce(`first ${place}`, `used ${place}`)));

  return {
    store,
    addOnce,
    /** Adds animals in one turn of the event loop. */
    async addTogether(group: string, isReused: (place: number) => boolean) {
      const keyOf = (place: number) => `${isReused(place) ? 'used' : group} ${place}`;
      const before = way.countRoundTrips();
      const results = await Promise.allSettled(
        places.map((place) => addOnce(`${group} ${place}`, keyOf(place))),
      );
      return { results, roundTrips: way.countRoundTrips() - before };
    },
  };
}

/** An add with a key takes three round trips, and a whole group takes as many. */
const roundTripsOfAGroup = 3;

describe('adds with an Idempotency-Key that come together', { skip: postgres.skip }, () => {
  for (const [name, isReused] of [
    ['one', (place: number) => place === 7],
    ['a third', (place: number) => place % 3 === 0],
  ] as const)
    test(`share their round trips, although ${name} of them reuses the key of another body`, async (t) => {
      const { addTogether } = await open(t);
      for (let group = 0; group < 10; group += 1)
        assert.equal((await addTogether(`${group}`, isReused)).roundTrips, roundTripsOfAGroup);
    });

  test('are refused or answered as if each came alone', async (t) => {
    const { store, addTogether, addOnce } = await open(t);
    const isReused = (place: number) => place % 3 === 0;
    const { results } = await addTogether('a', isReused);
    for (const [place, result] of results.entries()) {
      if (result.status === 'rejected') {
        assert.ok(isReused(place) && result.reason instanceof AppError);
        assert.equal(result.reason.code, 'idempotency_key_reused');
        continue;
      }
      assert.ok(!isReused(place) && !result.value.isReplayed);
      const { id, name } = parseExactJson(result.value.answer.body) as { id: bigint; name: string };
      assert.equal(name, `a ${place}`);
      assert.deepEqual(await store.execute(`select name from pets where id = ${id}`), [{ name }]);
      assert.deepEqual(await addOnce(name, name), { ...result.value, isReplayed: true });
    }
    const [stored] = await store.execute(`select (select count(*)::int from pets) as pets,
      (select count(*)::int from first_answers) as answers`);
    const added = results.filter(({ status }) => status === 'fulfilled').length + adds;
    assert.deepEqual(stored, { pets: added, answers: added });
  });

  test('are each refused, if all of them reuse the key of another body', async (t) => {
    const { addTogether, addOnce } = await open(t);
    const { results } = await addTogether('a', () => true);
    assert.ok(results.every(({ status }) => status === 'rejected'));
    assert.equal((await addOnce('later', 'later')).isReplayed, false);
  });
});
