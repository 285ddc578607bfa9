import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operations } from '../../src/http/api/operations.ts';
import type { Database } from '../../src/storage/database.ts';
import { createExampleRequests } from '../support/example-requests.ts';
import { startBuiltServer } from './built-server.ts';

const acts: (readonly [transaction: string, accountId: bigint | undefined])[] = [];

/** Notes the account of each transaction. */
function note(database: Database): Database {
  return {
    ...database,
    transact(work, input, accountId) {
      // The uses of keys are written by a job, and before a key is rotated.
      if (work.name !== 'writeUses') acts.push([work.name, accountId]);
      return database.transact(work, input, accountId);
    },
  };
}

const { baseUrl, key, store } = await startBuiltServer({ after }, {}, undefined, note);
const requests = createExampleRequests(baseUrl, key, operations);
const [account] = await store.database.read(
  { build: (query) => query.selectFrom('accounts').select('id') },
  {},
);

for (const operation of operations.filter(({ method }) => method !== 'GET'))
  test(`${operation.id} writes on behalf of the account of its key`, async () => {
    const made = await requests.prepare(operation);
    acts.length = 0;
    await requests.send(operation, made);
    assert.ok(acts.length > 0);
    for (const [transaction, accountId] of acts) assert.equal(accountId, account?.id, transaction);
  });
