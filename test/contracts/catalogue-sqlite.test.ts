import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { sqliteEngine } from '../support/engines.ts';
import { describeCatalogue } from './catalogue.ts';

describeCatalogue(sqliteEngine);

test('animals and pages are read synchronously on SQLite', async (t) => {
  const store = await sqliteEngine.createStore(t);
  const catalogue = openCatalogue(await store.open(), systemClock);
  const pet = await catalogue.add({ name: 'Rex', categoryId: 7n });
  assert.deepEqual(catalogue.get(pet.id), pet);
  assert.deepEqual(catalogue.list({ limit: 1, status: null, newestId: null }), {
    pets: [pet],
    nextNewestId: null,
  });
});
