import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { createInstances } from '../../src/jobs/instances.ts';
import { fieldsOf } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';

await describeOnEngines('the list of instances', (engine) => {
  async function openTwo(t: TestContext) {
    const store = await engine.createStore(t);
    const open = async (startedAtMs: number) => createInstances(await store.open(), () => startedAtMs);
    const [one, other] = [await open(7_000), await open(3_000)];
    await one.beat();
    await other.beat();
    const list = async () => fieldsOf(await one.list(), 'startedAtMs', 'isThis');
    return { store, one, other, list };
  }

  test('begins with the one that answers', async (t) => {
    const { one } = await openTwo(t);
    const [first] = await one.list();
    assert.deepEqual(first, { ...one.own, isThis: true });
    assert.equal(first?.version, manifest.version);
  });

  if (engine.name === 'SQLite') {
    test('has only one on SQLite, which writes nothing', async (t) => {
      const { store, list } = await openTwo(t);
      assert.deepEqual(await list(), [[7_000, true]]);
      assert.deepEqual(await store.execute('select * from instances'), []);
    });
    return;
  }

  test('has all that run on the store', async (t) => {
    const { one, list } = await openTwo(t);
    await one.beat();
    assert.deepEqual(await list(), [
      [7_000, true],
      [3_000, false],
    ]);
  });

  test('has none that has left', async (t) => {
    const { other, list } = await openTwo(t);
    await other.leave();
    assert.deepEqual(await list(), [[7_000, true]]);
  });

  test('has none that has left while it wrote its row', async (t) => {
    const { other, list } = await openTwo(t);
    await Promise.all([other.beat(), other.leave()]);
    await other.beat();
    assert.deepEqual(await list(), [[7_000, true]]);
  });

  test('has none that has been silent for 30 s', async (t) => {
    const { store, one, list } = await openTwo(t);
    await store.execute('update instances set seen_at_ms = seen_at_ms - 31000 where started_at_ms = 3000');
    assert.deepEqual(await list(), [[7_000, true]]);
    await one.beat();
    assert.equal((await store.execute('select * from instances')).length, 1);
  });
});
