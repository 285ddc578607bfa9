import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimServing } from '../../src/storage/sqlite/claim-serving.ts';
import { useStore } from '../../src/storage/transfer/copy-store.ts';
import { describeOnEngines, openStore } from '../support/engines.ts';
import { addPet, fillStore, readContents } from './store-contents.ts';
import { selectSubjects } from './window-rows.ts';

/** Contract tests of src/storage/transfer/copy-store.ts. */
await describeOnEngines('a whole store', (engine) => {
  test('is reported as in use if a service has started since the last check', async (t) => {
    const store = await engine.createStore(t);
    await (await store.open()).close();
    await useStore(store.url, async (whole) => {
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

  test('is unchanged if its task fails', async (t) => {
    const { store, database } = await openStore(t, engine);
    await fillStore(database);
    const before = await readContents(database);
    const error = new Error('no further');
    const failing = useStore(store.url, async (whole) => {
      for (const name of ['api_keys', 'usage_windows', 'secrets'] as const)
        await whole.query(`delete from ${name}`);
      throw error;
    });
    await assert.rejects(failing, (thrown) => thrown === error);
    assert.deepEqual(await readContents(database), before);
  });

  test('accepts no other writer while it is open', async (t) => {
    const { store, database } = await openStore(t, engine);
    const events: string[] = [];
    const adding = await useStore(store.url, async (whole) => {
      const added = addPet(database).then(() => events.push('added'));
      await whole.query('select * from pets');
      events.push('over');
      return { added };
    });
    await adding.added;
    assert.deepEqual(events, ['over', 'added']);
  });
});
