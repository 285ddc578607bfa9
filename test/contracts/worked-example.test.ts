import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { insertPet, selectPet } from '../../src/pets/pet-rows.ts';
import { petValues } from '../support/catalogue.ts';
import { describeOnEngines, openStore } from '../support/engines.ts';
import { runExample } from './worked-example.ts';

await describeOnEngines('the example at the head of storage/database.ts', (engine) => {
  test('reads, lists and renames animals', async (t) => {
    const { database } = await openStore(t, engine);
    for (let id = 1; id <= 7; id += 1)
      await database.run(insertPet, petValues({ name: `Pet ${id}`, categoryId: 1n, status: 'sold' }));
    const { pet, page, nameBefore } = await runExample(database);
    assert.deepEqual([pet?.name, nameBefore], ['Pet 7', 'Pet 7']);
    assert.deepEqual(page, { items: ['Pet 7', 'Pet 6', 'Pet 5', 'Pet 4', 'Pet 3'], next: 2n });
    const [renamed] = await database.read(selectPet, { id: 7n });
    assert.equal(renamed?.name, 'Rex');
  });
});

test('the example at the head of storage/database.ts is the one that runs', async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
  const [head = ''] = (await read('../../src/storage/database.ts')).split('*/');
  const shown = [...head.matchAll(/^ \* {5}(.*)$/gm)].map(([, line = '']) => line.trim());
  const run = (await read('worked-example.ts')).split('\n').map((line) => line.trim());
  assert.ok(shown.length > 20);
  assert.deepEqual(
    shown.filter((line) => !run.includes(line)),
    [],
  );
});
