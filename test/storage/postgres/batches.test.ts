import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { insertPet } from '../../../src/pets/pet-rows.ts';
import { statement } from '../../../src/storage/database.ts';
import { petValues } from '../../support/catalogue.ts';
import { findPostgres } from '../../support/engines.ts';
import { startCounting } from '../../support/postgres-messages.ts';

const postgres = await findPostgres();

/** Divides 1 by a number and returns text. Fails for zero. */
const divide = statement<{ number: bigint }>()((query, p) =>
  query.selectNoFrom(sql<bigint>`1 / cast(${p.number} as bigint)`.as('quotient')),
);
const pet = (name: string) => ({ name, categoryId: 1n, status: 'available' });

async function prepare(t: TestContext) {
  const store = await postgres.createStore(t);
  const way = await startCounting(t, store.url);
  const database = await store.open(way.url);
  return { store, way, database };
}

describe('statements that are sent to PostgreSQL together', { skip: postgres.skip }, () => {
  test('fail independently, and can be sent again on the same connection', async (t) => {
    const { database } = await prepare(t);
    for (let round = 0; round < 3; round += 1) {
      const numbers = [1n, 0n, 1n, 0n];
      const reads = numbers.map((number) => database.read(divide, { number }));
      const settled = await Promise.allSettled(reads);
      assert.deepEqual(
        settled.map((read) => (read.status === 'fulfilled' ? read.value : read.reason.code)),
        numbers.map((number) => (number === 1n ? [{ quotient: 1n }] : '22012')),
      );
    }
  });

  test('add rows in one transaction, and return its own id to each call', async (t) => {
    const { store, database } = await prepare(t);
    const names = Array.from({ length: 50 }, (_, place) => `animal ${place}`);
    const added = await Promise.all(names.map((name) => database.run(insertPet, petValues(pet(name)))));
    const rows = (await store.execute('select id, name, xmin::text as tx from pets order by id')) as {
      id: string;
      name: string;
      tx: string;
    }[];
    const stored = new Map(rows.map(({ id, name }) => [BigInt(id), name]));
    for (const [place, [row]] of added.entries()) assert.equal(stored.get(row?.id ?? 0n), names[place]);
    assert.equal(new Set(rows.map(({ tx }) => tx)).size, 1);
    const events = await store.execute('select id from event_outbox union all select id from events');
    assert.equal(events.length, 50);
  });
});
