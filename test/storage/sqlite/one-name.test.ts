import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openDatabase } from '../../../src/storage/open-database.ts';
import { claimMigrating, claimServing, findNameProblem } from '../../../src/storage/sqlite/claim-serving.ts';
import { copyStore } from '../../../src/storage/transfer/copy-store.ts';
import { runInProcess } from '../../support/command-line.ts';
import { whyNoMounts, withMounts } from '../../support/mounts.ts';
import { runProgram, serveInProcess } from '../../support/processes.ts';
import { makeFolder } from '../../support/service.ts';

const skip = whyNoMounts();
const isServedHere = /^error: another service is serving the database .*: several services need PostgreSQL$/m;

const settingsFor = (path: string) => ({
  ENVIRONMENT: 'staging',
  PORT: '0',
  OPS_PORT: '0',
  DATABASE_URL: `sqlite:${path}`,
});

/** Creates a folder with a store that another process serves. */
async function serve(t: TestContext) {
  const folder = await makeFolder(t);
  const path = join(folder, 'store.db');
  const service = await serveInProcess(t, { settings: settingsFor(path) });
  return { folder, path, service };
}

/** Requires that a command is refused: exit code 1, and one line on standard error. */
async function expectRefusal(
  args: readonly string[],
  path: string,
  line: RegExp,
  wrapper: readonly string[] = [],
  preload = '',
): Promise<void> {
  const { code, stderr } = await runProgram(args, { settings: settingsFor(path), wrapper, preload });
  assert.equal(code, 1, stderr);
  assert.match(stderr, line);
  assert.doesNotMatch(stderr, /^ {4}at /m);
}

/** The source text of a module that makes the wait for a service that may be starting end at once. */
const skipWait = 'let nowMs = 0; performance.now = () => (nowMs += 60_000);';

/** Requires that a service and commands are refused at another path of a store that is served. */
async function expectServedElsewhere(path: string, wrapper: readonly string[] = []): Promise<void> {
  const elsewhere = /another service is serving the database .* under another name$/m;
  await expectRefusal(['serve'], path, elsewhere, wrapper, skipWait);
  const refusal =
    /^error: the database .* cannot be opened: a service serves the same file under another name$/m;
  for (const args of [
    ['keys', 'list'],
    ['backup', `${path}.backup`],
  ])
    await expectRefusal(args, path, refusal, wrapper, skipWait);
}

test('every command refuses a store while it has two hard links', async (t) => {
  const folder = await makeFolder(t);
  const [path, second] = [join(folder, 'store.db'), join(folder, 'second.db')];
  await (await openDatabase(`sqlite:${path}`)).close();
  await link(path, second);
  const hasTwoNames = /the file has 2 names \(hard links\)/;
  for (const name of [path, second]) {
    await assert.rejects(openDatabase(`sqlite:${name}`), { name: 'OperatorError', message: hasTwoNames });
    const backup = await runInProcess(['backup', join(folder, 'backup.db')], `sqlite:${name}`);
    assert.match(backup.stderr, hasTwoNames);
    await assert.rejects(copyStore(`sqlite:${name}`, `sqlite:${folder}/other.db`), hasTwoNames);
    const { stdout } = await runInProcess(['doctor', '--json'], `sqlite:${name}`);
    assert.match(stdout, hasTwoNames);
  }
  await expectRefusal(['serve'], second, hasTwoNames);
  await rm(second);
  await (await openDatabase(`sqlite:${path}`)).close();
});

test('no service starts under another name of a store while a migration runs', async (t) => {
  const folder = await makeFolder(t);
  const [path, second] = [join(folder, 'store.db'), join(folder, 'second.db')];
  await (await openDatabase(`sqlite:${path}`)).close();
  await link(path, second);
  const endMigration = await claimMigrating(path);
  await assert.rejects(claimServing(`sqlite:${second}`), /another service is serving .* under another name/);
  endMigration();
  const stopServing = await claimServing(`sqlite:${second}`);
  stopServing();
});

test('a store that is renamed while it is served cannot be opened under its new name', async (t) => {
  const { folder, path, service } = await serve(t);
  const renamed = join(folder, 'renamed.db');
  await rename(path, renamed);
  await expectServedElsewhere(renamed);
  await rename(renamed, path);
  await service.end('SIGTERM');
  await (await openDatabase(`sqlite:${path}`)).close();
});

test('a served store that is also mounted as a single file at another path is refused at that path', {
  skip,
}, async (t) => {
  const { folder, path } = await serve(t);
  const second = join(folder, 'elsewhere', 'store.db');
  await mkdir(join(folder, 'elsewhere'));
  await writeFile(second, '');
  await expectServedElsewhere(second, withMounts({ from: path, at: second }));
});

test('only a second service is refused in the folder of a served store that is also mounted elsewhere', {
  skip,
}, async (t) => {
  const { folder } = await serve(t);
  const second = join(folder, 'elsewhere');
  await mkdir(second);
  const wrapper = withMounts({ from: folder, at: second });
  const path = join(second, 'store.db');
  const { code, stderr } = await runProgram(['keys', 'list'], { settings: settingsFor(path), wrapper });
  assert.deepEqual([code, stderr], [0, '']);
  await expectRefusal(['serve'], path, isServedHere, wrapper);
});

test('only a second service is refused through symbolic links to a served store', async (t) => {
  const { folder } = await serve(t);
  const [links, second] = [join(folder, 'links'), join(folder, 'links', 'link.db')];
  await mkdir(links);
  await symlink('../store.db', join(links, 'inner.db'));
  await symlink('inner.db', second);
  const { code, stderr } = await runInProcess(['keys', 'list'], `sqlite:${second}`);
  assert.deepEqual([code, stderr], [0, '']);
  await expectRefusal(['serve'], second, isServedHere);
});

test('a symbolic link may lead to a store that does not exist yet, but not in a circle', async (t) => {
  const folder = await makeFolder(t);
  const [link, circle] = [join(folder, 'link.db'), join(folder, 'circle.db')];
  await mkdir(join(folder, 'data'));
  await symlink(join('data', 'store.db'), link);
  const database = await openDatabase(`sqlite:${link}`);
  assert.ok(existsSync(join(folder, 'data', 'store.db-wal')));
  await database.close();
  await symlink(circle, circle);
  await assert.rejects(openDatabase(`sqlite:${circle}`), { name: 'OperatorError' });
});

test('SQLite keeps its locks on an open store during the check of the name', {
  skip: existsSync('/proc/locks') ? false : 'SKIPPED: only /proc/locks shows which locks are held',
}, async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openDatabase(`sqlite:${path}`);
  t.after(() => database.close());
  const { ino } = await stat(path);
  const countLocks = async () => {
    const lines = (await readFile('/proc/locks', 'utf8')).split('\n');
    return lines.filter((line) => line.includes(`:${ino} `) && line.includes(' POSIX ')).length;
  };
  assert.equal(await countLocks(), 1);
  assert.equal(await findNameProblem(path), null);
  assert.equal(await countLocks(), 1);
});
