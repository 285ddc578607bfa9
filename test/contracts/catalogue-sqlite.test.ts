import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import { sqliteEngine } from '../support/engines.ts';
import { describeCatalogue } from './catalogue.ts';

describeCatalogue(sqliteEngine);

test('animals and pages are read within the call', async (t) => {
  const store = await sqliteEngine.createStore(t);
  const catalogue = createCatalogue(await store.open(), systemClock);
  const { pet } = await catalogue.add({ name: 'Rex', categoryId: 7n }, null);
  assert.deepEqual(catalogue.get(pet.id), pet);
  assert.deepEqual(catalogue.list({ limit: 1, status: null, newestId: null }), {
    pets: [pet],
    nextNewestId: null,
  });
});
