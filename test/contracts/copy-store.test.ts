import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { insertAccount } from '../../src/accounts/account-rows.ts';
import { OperatorError } from '../../src/errors.ts';
import { claimServing } from '../../src/storage/sqlite/claim-serving.ts';
import { copyStore } from '../../src/storage/transfer/copy-store.ts';
import { type Engine, findEngines } from '../support/engines.ts';
import { addPet, fillStore, readContents, setLastPetId } from './store-contents.ts';
import { insertWindow } from './window-rows.ts';

const account = {
  name: 'Žofka',
  plan: 'free',
  per_minute: null,
  per_day: null,
  open_holds: null,
  created_at_ms: 1n,
};

/** Contract tests of src/storage/transfer/copy-store.ts for a pair of engines. */
function describeCopy(from: Engine, to: Engine): void {
  describe(`moving a store from ${from.name} to ${to.name}`, { skip: from.skip || to.skip }, () => {
    test('copies every row of every table exactly, reports its progress and changes nothing in the source', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      const original = await source.open();
      await fillStore(original);
      const before = await target.open();
      await before.run(insertWindow, { subject: 'address:192.0.2.1', used: 1n });
      await before.close();
      const contents = await readContents(original);
      const told: string[] = [];
      const rows = await copyStore(source.url, target.url, (phase, done, total) =>
        told.push(`${phase} ${done} of ${total}`),
      );
      assert.deepEqual(await readContents(await target.open()), contents);
      for (const [table, count] of Object.entries(rows)) assert.equal(contents[table]?.length, count, table);
      assert.equal(rows.pets, 12_000);
      const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
      assert.equal(told.at(told.length / 2 - 1), `moving ${total} of ${total}`);
      assert.equal(told.at(-1), `checking ${total} of ${total}`);
      assert.deepEqual(await readContents(original), contents);
      assert.equal(await addPet(original), 12_001n);
    });

    test('copies ids beyond 2^53 exactly, and never reuses one, not even that of a deleted animal', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      const original = await source.open();
      await setLastPetId(source.url, 2n ** 62n);
      await addPet(original);
      const gone = await addPet(original);
      await source.execute(`delete from pets where id = ${gone}`);
      const [first] = await original.run(insertAccount, account);
      await copyStore(source.url, target.url);
      const copy = await target.open();
      assert.deepEqual(await readContents(copy), await readContents(original));
      assert.equal(await addPet(copy), gone + 1n);
      const [second] = await copy.run(insertAccount, { ...account, name: 'other' });
      assert.equal(second?.id, (first?.id ?? 0n) + 1n);
    });

    test('never reuses an id that the target assigned before it was emptied', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      await addPet(await source.open());
      const before = await target.open();
      for (let count = 0; count < 5; count += 1) await addPet(before);
      await before.close();
      await target.execute('delete from pets');
      await copyStore(source.url, target.url);
      assert.equal(await addPet(await target.open()), 6n);
    });

    for (const [what, sql] of [
      ['an animal', `insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'sold', 0)`],
      ['a category', `insert into categories (id, name) values (7, 'cats')`],
      ['an account', `insert into accounts (name, plan, created_at_ms) values ('Žofka', 'free', 1)`],
    ] as const)
      test(`is refused if the target has ${what}, and leaves it unchanged`, async (t) => {
        const [source, target] = [await from.createStore(t), await to.createStore(t)];
        await addPet(await source.open());
        const copy = await target.open();
        await target.execute(sql);
        const before = await readContents(copy);
        await assert.rejects(copyStore(source.url, target.url), isLine(/is not empty: nothing was moved$/));
        assert.deepEqual(await readContents(copy), before);
      });

    test('is refused while a service uses the target, and leaves it unchanged', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      await addPet(await source.open());
      const copy = await target.open();
      const release = await claimServing(target.url);
      const before = await readContents(copy);
      await assert.rejects(copyStore(source.url, target.url), isLine(/is in use|another service is serving/));
      assert.deepEqual(await readContents(copy), before);
      release();
    });

    test('is refused if the schema of the source differs from the schema of this program', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      await source.open();
      await source.execute(`insert into schema_migrations values ('9999-later', '2030-01-01T00:00:00.000Z')`);
      await assert.rejects(
        copyStore(source.url, target.url),
        isLine(/does not have the schema of this release/),
      );
    });
  });
}

function isLine(pattern: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, pattern);
    assert.doesNotMatch(error.message, /\n/);
    return true;
  };
}

const engines = await findEngines();
for (const from of engines) for (const to of engines) describeCopy(from, to);
