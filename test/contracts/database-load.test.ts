import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OutcomeUnknownError } from '../../src/errors.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import { type Database, statement, type Value } from '../../src/storage/database.ts';
import type { Tables } from '../../src/storage/tables.ts';
import { type Engine, findEngines, findPostgres } from '../support/engines.ts';
import { startRelay } from '../support/relay.ts';
import { setLastPetId } from './store-contents.ts';
import { insertWindow, selectSecret, selectSubjects } from './window-rows.ts';

const columns = ['name', 'category_id', 'status', 'is_owned'];

const selectPets = statement<Record<never, never>>()((query) =>
  query.selectFrom('pets').select(['id', 'name', 'category_id']).orderBy('id'),
);

const selectAccounts = statement<Record<never, never>>()((query) =>
  query.selectFrom('accounts').select(['name', 'per_minute', 'per_day']),
);

/** Contract tests of `load` in src/storage/database.ts. */
function describeLoad(engine: Engine): void {
  describe(`loading rows into ${engine.name}`, { skip: engine.skip }, () => {
    test('rows are added in their order, and their number is returned', async (t) => {
      const database = await (await engine.createStore(t)).open();
      const batches = Array.from({ length: 5 }, (_, batch) => pets(batch * 1_000, 1_000));
      assert.equal(await database.load('pets', columns, inTurn([[], []])), 0);
      assert.equal(await database.load('pets', columns, inTurn(batches)), 5_000);
      const rows = await database.read(selectPets, {});
      assert.deepEqual(
        rows.map(({ name }) => name),
        batches.flat().map(([name]) => name),
      );
    });

    test('ids beyond 2^53 are returned exactly', async (t) => {
      const store = await engine.createStore(t);
      const database = await store.open();
      await setLastPetId(store.url, 2n ** 62n);
      assert.equal(await database.load('pets', columns, inTurn([pets(0, 2)])), 2);
      const rows = await database.read(selectPets, {});
      assert.deepEqual(
        rows.map(({ id }) => id),
        [2n ** 62n + 1n, 2n ** 62n + 2n],
      );
    });

    test('integers, texts, nulls and bytes are stored exactly', async (t) => {
      const database = await (await engine.createStore(t)).open();
      const load = (table: keyof Tables, names: readonly string[], ...rows: Value[][]) =>
        database.load(table, names, inTurn([rows]));
      const name = `'"\\N\\t{},\u00e9\u{1f408}\uffff`;
      await load('pets', columns, [name, int64Min, 'sold', 0n], ['b', int64Max, 'sold', 0n]);
      assert.deepEqual(
        (await database.read(selectPets, {})).map((pet) => [pet.name, pet.category_id]),
        [
          [name, int64Min],
          ['b', int64Max],
        ],
      );
      const account = ['name', 'plan', 'per_minute', 'per_day', 'created_at_ms'];
      await load('accounts', account, ['a', 'free', null, null, 1n]);
      assert.deepEqual(await database.read(selectAccounts, {}), [
        { name: 'a', per_minute: null, per_day: null },
      ]);
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      await load('secrets', ['name', 'value'], ['bytes', bytes]);
      const [row] = await database.read(selectSecret, { name: 'bytes' });
      assert.deepEqual(Array.from(row?.value ?? []), Array.from(bytes));
    });

    test('an error of the source is rethrown, and neither it nor a row that the table refuses adds anything', async (t) => {
      const database = await (await engine.createStore(t)).open();
      const error = new Error('line 3 is bad');
      const failing = async function* () {
        yield pets(0, 10);
        throw error;
      };
      await assert.rejects(database.load('pets', columns, failing()), (thrown) => thrown === error);
      const batches = [pets(0, 10), [...pets(10, 10), ['Rex', 1n, 'lost', 0n]]];
      await assert.rejects(database.load('pets', columns, inTurn(batches)), /constraint/);
      assert.equal(await countPets(database), 0);
    });

    test('rows are written only after the whole source was read', async (t) => {
      const database = await (await engine.createStore(t)).open();
      const events: string[] = [];
      const source = async function* () {
        for (const batch of [pets(0, 10), pets(10, 10)]) {
          yield batch;
          events.push(`${await countPets(database)} there`);
        }
      };
      await database.load('pets', columns, source(), { onWrite: () => void events.push('writing') });
      assert.deepEqual(events, ['0 there', '0 there', 'writing']);
      assert.equal(await countPets(database), 20);
    });

    test('others can write while the source is read', async (t) => {
      const database = await (await engine.createStore(t)).open();
      const source = async function* () {
        yield pets(0, 10);
        await database.run(insertWindow, { subject: 'meanwhile', used: 1n });
      };
      await database.load('pets', columns, source());
      assert.equal((await database.read(selectSubjects, {})).length, 1);
    });
  });
}

function pets(first: number, count: number): Value[][] {
  return Array.from({ length: count }, (_, index) => [
    `Rex ${first + index}`,
    BigInt(index),
    'available',
    0n,
  ]);
}

async function* inTurn(batches: readonly Value[][][]): AsyncGenerator<Value[][]> {
  yield* batches;
}

async function countPets(database: Database): Promise<number> {
  return (await database.read(selectPets, {})).length;
}

for (const engine of await findEngines()) describeLoad(engine);

const postgres = await findPostgres();

test('a load has no timeout, even if the database sets one', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const name = new URL(store.url).pathname.slice(1);
  await store.execute(`create function wait() returns trigger language plpgsql as
    'begin perform pg_sleep(1.5); return null; end'`);
  await (await store.open()).close();
  await store.execute('create trigger slow after insert on pets for each statement execute function wait()');
  for (const limit of ['idle_session_timeout', 'statement_timeout'])
    await store.execute(`alter database ${name} set ${limit} = 1000`);
  const database = await store.open();
  assert.equal(await database.load('pets', columns, inTurn([pets(0, 1)])), 1);
});

test('a load fails with OutcomeUnknownError if its connection is lost during the commit', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const relay = await startRelay(t, store.url);
  const database = await store.open(relay.url);
  await assert.rejects(
    database.load('pets', columns, inTurn([pets(0, 1)]), {
      onWrite: () => void relay.cut(),
    }),
    OutcomeUnknownError,
  );
});
