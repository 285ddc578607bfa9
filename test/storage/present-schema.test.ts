import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { describeSchema, fileOf } from '../../schema/describe-schema.ts';
import { findPostgres, sqliteEngine } from '../support/engines.ts';

for (const [name, engine] of [
  ['sqlite', sqliteEngine],
  ['postgres', await findPostgres()],
] as const)
  test(`src/storage/schema.${name}.sql is the schema that the migrations make`, {
    skip: engine.skip,
  }, async (t) => {
    const { execute } = await engine.createStore(t);
    assert.equal(await readFile(fileOf(name), 'utf8'), await describeSchema(name, execute), 'npm run schema');
  });
