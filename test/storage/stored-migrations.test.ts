import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { requireExisting } from '../../src/storage/stored-migrations.ts';
import { findEngines } from '../support/engines.ts';
import { makeFolder } from '../support/service.ts';

const refusal = {
  name: 'OperatorError',
  message: /^there is no store [^\n]*, and REQUIRE_STORE is true: [^\n]*"animal-store migrate"$/,
};

for (const engine of await findEngines())
  describe(`a required store on ${engine.name}`, { skip: engine.skip }, () => {
    test('is there once it has its tables', async (t) => {
      const store = await engine.createStore(t);
      await (await store.open()).close();
      await requireExisting(store.url);
    });

    test('is missing in an empty database', async (t) => {
      await assert.rejects(requireExisting((await engine.createEmptyStore(t)).url), refusal);
    });
  });

test('a required store is missing in an empty folder', async (t) => {
  await assert.rejects(requireExisting(`sqlite:${join(await makeFolder(t), 'store.db')}`), refusal);
});
