import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { OperatorError } from '../../../src/errors.ts';
import { claimServing } from '../../../src/storage/sqlite/claim-serving.ts';
import { makeFolder } from '../../support/service.ts';

test('a SQLite store can be served by only one service at a time', async (t) => {
  const url = `sqlite:${join(await makeFolder(t), 'animal-store.db')}`;
  const release = await claimServing(url);
  await assert.rejects(claimServing(url), OperatorError);
  release();
  (await claimServing(url))();
});

test('a PostgreSQL store can be served by several services', async () => {
  await claimServing('postgres://127.0.0.1/store');
  await claimServing('postgres://127.0.0.1/store');
});
