import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OutcomeUnknownError } from '../../src/errors.ts';
import { type Database, statement, type Value } from '../../src/storage/database.ts';
import { type Engine, findEngines, findPostgres } from '../support/engines.ts';
import { startRelay } from '../support/relay.ts';
import { insertWindow } from './window-rows.ts';

const columns = ['name', 'category_id', 'status', 'is_owned'];

const selectPets = statement<Record<never, never>>()((query) => query.selectFrom('pets').select('id'));

/** Contract tests of `load` in src/storage/database.ts. */
function describeLoad(engine: Engine): void {
  describe(`loading rows into ${engine.name}`, { skip: engine.skip }, () => {
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

    test('rows are written only after the whole source was read, and others can write meanwhile', async (t) => {
      const database = await (await engine.createStore(t)).open();
      const events: string[] = [];
      const source = async function* () {
        for (const batch of [pets(0, 10), pets(10, 10)]) {
          yield batch;
          await database.run(insertWindow, { subject: `${batch[0]}`, used: 1n });
          events.push(`${await countPets(database)} there`);
        }
      };
      const loading = database.load('pets', columns, source(), {
        onWrite: () => void events.push('writing'),
      });
      assert.equal(await loading, 20);
      assert.deepEqual(events, ['0 there', '0 there', 'writing']);
      assert.equal(await countPets(database), 20);
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
