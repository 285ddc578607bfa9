import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { newestSchema } from '../../src/storage/migrations/migrate.ts';
import { expectMistake, runInProcess } from '../support/command-line.ts';
import { hasObject, installCommit } from '../support/releases.ts';
import { makeFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
/** The last commit of release 1.0.0. A clone without its history skips the test. */
const firstRelease = '5867137b0b2e1d46ae5e2b4a175a447930e59398';
const isThere = hasObject(firstRelease);

test('the way back of docs/operations/upgrade.md keeps every animal', {
  skip: !isThere && 'SKIPPED: this clone has no commit of the first release',
}, async (t) => {
  const folder = await makeFolder(t);
  const program = await installCommit(t, firstRelease);
  const [file, backup] = [join(folder, 'store.db'), join(folder, 'backup.db')];
  const url = `sqlite:${file}`;
  const runFirst = (...args: string[]) =>
    execFileSync(process.execPath, [program, ...args], {
      env: { PATH: process.env['PATH'], DATABASE_URL: url, ENVIRONMENT: 'staging' },
      encoding: 'utf8',
    });

  runFirst('import', join(root, 'examples/animals.ndjson'));
  runFirst('keys', 'create', '--plan', 'free', '--account', 'Zoo');
  const animals = runFirst('export');
  runFirst('backup', backup);

  const older = /has the schema of an older release, 0001-first: "serve", "import" and "migrate" update it$/m;
  for (const command of ['keys list', 'accounts list', 'export', `backup ${folder}/other.db`])
    expectMistake(await runInProcess(command, url), 1, older);
  assert.equal(runFirst('export'), animals);
  assert.equal((await runInProcess('migrate', url)).code, 0);
  const copy = `store.db.before-${newestSchema.at(-1)}`;
  assert.ok((await readdir(folder)).includes(copy));
  assert.equal((await stat(join(folder, copy))).mode & 0o077, 0);
  assert.throws(() => runFirst('keys', 'list'), /newer/);

  for (const source of [backup, join(folder, copy)]) {
    assert.equal((await runInProcess(['restore', source], url)).code, 0);
    assert.equal(runFirst('export'), animals);
    assert.match(runFirst('keys', 'list'), /Zoo/);
  }
  await copyFile(join(folder, copy), join(folder, 'again.db'));
  assert.equal((await runInProcess('migrate', `sqlite:${folder}/again.db`)).code, 0);
});
