import assert from 'node:assert/strict';
import { join } from 'node:path';
import { constants } from 'node:sqlite';
import { test } from 'node:test';
import { selectForeignKeys } from '../../../src/accounts/key-rows.ts';
import { selectOldest, selectPage } from '../../../src/pets/pet-rows.ts';
import { openConnection } from '../../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../../src/storage/sqlite/database.ts';
import { toCall } from '../../../src/storage/sqlite/statements.ts';
import { makeFolder } from '../../support/service.ts';

test('a statement with a limit is prepared only once', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  await (await openSqlite(path)).close();
  const connection = openConnection(path, 0);
  t.after(() => connection.close());
  // SQLite calls the authorizer whenever it prepares a statement.
  let asked = 0;
  connection.raw.setAuthorizer(() => {
    asked += 1;
    return constants.SQLITE_OK;
  });

  function runEach(count: bigint): void {
    for (const status of [null, 'sold'] as const) {
      const filter = { categoryId: null, ids: null };
      connection.run(toCall(selectPage(status), { ...filter, newestId: count, count }));
    }
    connection.run(toCall(selectOldest, { afterId: count, count }));
    connection.run(toCall(selectForeignKeys, { pattern: '', nowMs: count, count }));
  }

  runEach(1n);
  assert.ok(asked > 0);
  asked = 0;
  for (let count = 2n; count < 10n; count += 1n) runEach(count);
  assert.equal(asked, 0);
});
