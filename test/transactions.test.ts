import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transaction } from '../src/storage/database.ts';
import { transactions } from '../src/transactions.ts';
import { openStore, sqliteEngine } from './support/engines.ts';

const unlisted = transaction('unlisted', 'row locks', function* (_input: null) {});

test('a transaction that is not listed cannot be run', async (t) => {
  const { database } = await openStore(t, sqliteEngine);
  // @ts-expect-error It stands in no list of transactions.
  await assert.rejects(database.transact(unlisted, null), /no transaction "unlisted"/);
});

test('every transaction is listed under its name', () => {
  for (const [key, { name }] of Object.entries(transactions)) assert.equal(name, key);
});
