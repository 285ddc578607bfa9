import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { claimServing } from '../../src/storage/sqlite/claim-serving.ts';
import type { Tables } from '../../src/storage/tables.ts';
import { copiedTables } from '../../src/storage/transfer/copied-tables.ts';
import { type Row, readStore, type WholeStore, writeStore } from '../../src/storage/transfer/whole-store.ts';
import { type Engine, findEngines } from '../support/engines.ts';
import { addPet, fillStore, readContents, setLastPetId } from './store-contents.ts';
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

async function* inTurn(batches: readonly (readonly Row[])[]): AsyncGenerator<readonly Row[]> {
  yield* batches;
}

for (const engine of await findEngines()) describeWholeStore(engine);
