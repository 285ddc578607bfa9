import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { selectSubjects } from '../contracts/window-rows.ts';
import { sqliteEngine } from '../support/engines.ts';

const run = promisify(execFile);

const openAndWrite = `
  const { openDatabase } = await import(${JSON.stringify(import.meta.resolve('../../src/storage/open-database.ts'))});
  const { insertWindow } = await import(${JSON.stringify(import.meta.resolve('../contracts/window-rows.ts'))});
  const [url, subject] = process.argv.slice(-2);
  const database = await openDatabase(url);
  await database.run(insertWindow, { subject, used: 1n });
  await database.close();
`;

test('ten processes that open a new SQLite file at the same time can all open it and write', async (t) => {
  const store = await sqliteEngine.createEmptyStore(t);
  const start = (subject: string) =>
    run(process.execPath, ['--input-type=module', '--eval', openAndWrite, '--', store.url, subject]);
  await Promise.all(Array.from({ length: 10 }, (_, index) => start(`process ${index}`)));
  const database = await store.open();
  assert.equal((await database.read(selectSubjects, {})).length, 10);
});
