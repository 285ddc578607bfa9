import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorError } from '../../../src/errors.ts';
import { connectionSettings } from '../../../src/storage/postgres/client.ts';
import { openPostgres } from '../../../src/storage/postgres/database.ts';
import { findPostgres } from '../../support/engines.ts';
import { connectPostgres } from '../../support/postgres-databases.ts';

const postgres = await findPostgres();

test('a connection to PostgreSQL opens within the connect_timeout of its address, or else within 2 s', () => {
  const readMs = (url: string) => connectionSettings(url).connectionTimeoutMillis;
  assert.equal(readMs('postgres://h/d?sslmode=require&connect_timeout=10'), 10_000);
  assert.equal(readMs('postgres://h/d'), 2_000);
});

describe('opening a PostgreSQL store', { skip: postgres.skip }, () => {
  for (const [what, createStore, lock] of [
    ['the migration lock', postgres.createEmptyStore, 'select pg_advisory_lock(3853314791062309107)'],
    ['the list of migrations', postgres.createStore, 'begin; lock table schema_migrations'],
  ] as const)
    test(`fails with one line if another session holds ${what} for too long`, async (t) => {
      const { url } = await createStore(t);
      await (await connectPostgres(t, url)).query(lock);
      await assert.rejects(openPostgres(url, 100), (error) => {
        assert.ok(error instanceof OperatorError);
        return /^the database [^\n]+ another session held a lock for too long[^\n]+$/.test(error.message);
      });
    });
});
