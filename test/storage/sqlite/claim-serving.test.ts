import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { OperatorError } from '../../../src/errors.ts';
import { claimServing } from '../../../src/storage/sqlite/claim-serving.ts';
import { makeFolder } from '../../support/service.ts';

test('an embedded store is served by one service at a time', async (t) => {
  const url = `sqlite:${join(await makeFolder(t), 'animal-store.db')}`;
  const release = await claimServing(url);
  await assert.rejects(claimServing(url), OperatorError);
  release();
  (await claimServing(url))();
});

test('a store on PostgreSQL may be served by many', async () => {
  await claimServing('postgres://127.0.0.1/store');
  await claimServing('postgres://127.0.0.1/store');
});
