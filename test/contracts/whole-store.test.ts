import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { claimServing } from '../../src/storage/sqlite/claim-serving.ts';
import type { Tables } from '../../src/storage/tables.ts';
import { copiedTables } from '../../src/storage/transfer/copied-tables.ts';
import { type Row, readStore, type WholeStore, writeStore } from '../../src/storage/transfer/whole-store.ts';
import { type Engine, findEngines } from '../support/engines.ts';
import { addPet, fillStore, readContents, setLastPetId, unorderedTexts } from './store-contents.ts';
import { selectSubjects } from './window-rows.ts';

/** Contract tests of src/storage/transfer/whole-store.ts. */
function describeWholeStore(engine: Engine): void {
  describe(`a whole ${engine.name} store`, { skip: engine.skip }, () => {
    test('is read as of the first read, even if others write meanwhile', async (t) => {
      const store = await engine.createStore(t);
      const database = await store.open();
      await addPet(database);
      const rows = await readStore(store.url, async (whole) => {
        await whole.query('select count(*) from accounts');
        await addPet(database);
        return readTable(whole, 'pets');
      });
      assert.equal(rows.length, 1);
    });

    test('is reported as in use if a service has started since the last check', async (t) => {
      const store = await engine.createStore(t);
      await (await store.open()).close();
      await writeStore(store.url, async (whole) => {
        await whole.requireUnserved();
        const release = await claimServing(store.url);
        const other = await store.open();
        await other.read(selectSubjects, {});
        await assert.rejects(whole.requireUnserved(), /is in use|another service is serving/);
        await other.close();
        release();
        await whole.requireUnserved();
      });
    });

    test('cannot be changed by its reader', async (t) => {
      const store = await engine.createStore(t);
      await addPet(await store.open());
      await assert.rejects(
        readStore(store.url, async (whole) => whole.replaceRows('pets', inTurn([]))),
        (error) => error instanceof AppError && /read-?only/.test(String(error.cause)),
      );
    });

    test('returns the rows of a table in the byte order of the primary key', async (t) => {
      const store = await engine.createStore(t);
      await fillStore(await store.open());
      const subjects = await readStore(store.url, async (whole) =>
        (await readTable(whole, 'api_keys')).map(({ id }) => String(id)),
      );
      assert.deepEqual(
        subjects,
        unorderedTexts.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
      );
    });

    test('returns every row of a table larger than a batch once, by id', async (t) => {
      const store = await engine.createStore(t);
      await fillStore(await store.open());
      const rows = await readStore(store.url, (whole) => readTable(whole, 'pets'));
      assert.deepEqual(
        rows.map(({ id }) => id),
        Array.from({ length: 12_000 }, (_, index) => BigInt(index + 1)),
      );
    });

    test('is unchanged if its writer fails', async (t) => {
      const store = await engine.createStore(t);
      const database = await store.open();
      await fillStore(database);
      const before = await readContents(database);
      const error = new Error('no further');
      const failing = writeStore(store.url, async (whole) => {
        for (const name of ['api_keys', 'usage_windows', 'secrets'] as const)
          await whole.replaceRows(name, inTurn([]));
        throw error;
      });
      await assert.rejects(failing, (thrown) => thrown === error);
      assert.deepEqual(await readContents(database), before);
    });

    test('accepts no other writer while it is open for writing', async (t) => {
      const store = await engine.createStore(t);
      const database = await store.open();
      const events: string[] = [];
      const adding = await writeStore(store.url, async (whole) => {
        const added = addPet(database).then(() => events.push('added'));
        await readTable(whole, 'pets');
        events.push('over');
        return { added };
      });
      await adding.added;
      assert.deepEqual(events, ['over', 'added']);
    });

    test('assigns the id after the last assigned id', async (t) => {
      const store = await engine.createStore(t);
      const database = await store.open();
      const last = 2n ** 53n;
      await setLastPetId(store.url, last);
      assert.equal(await addPet(database), last + 1n);
      assert.equal(await readLastId(store.url), last + 1n);
    });

    test('returns the last assigned id even if its animal is deleted', async (t) => {
      const store = await engine.createStore(t);
      const database = await store.open();
      assert.equal(await readLastId(store.url), 0n);
      const last = await addPet(database);
      await store.execute('delete from pets');
      assert.equal(await readLastId(store.url), last);
    });

    test('assigns the first id if none was assigned', async (t) => {
      const store = await engine.createStore(t);
      const database = await store.open();
      await setLastPetId(store.url, 0n);
      assert.equal(await addPet(database), 1n);
    });
  });
}

async function readTable(whole: WholeStore, name: keyof Tables): Promise<readonly Row[]> {
  const [table] = copiedTables.filter((one) => one.name === name);
  assert.ok(table !== undefined);
  return (await Array.fromAsync(whole.readRows(table))).flat();
}

function readLastId(url: string): Promise<bigint> {
  return readStore(url, async (whole) => whole.readLastId('pets'));
}

async function* inTurn(batches: readonly (readonly Row[])[]): AsyncGenerator<readonly Row[]> {
  yield* batches;
}

for (const engine of await findEngines()) describeWholeStore(engine);
