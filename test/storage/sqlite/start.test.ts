import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { glob, readlink, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readToEnd, serveInProcess, spawnProgram, until } from '../../support/processes.ts';
import { makeFolder } from '../../support/service.ts';
import { createSqliteStore } from '../../support/sqlite-files.ts';

const skip = existsSync('/proc/self/fd') ? false : 'SKIPPED: only /proc shows which files a process has open';

/** The source text of a module that stops a process at its first SQL on a store, until the file `goOn` exists. */
function holdAtFirstStatement(held: string, goOn: string): string {
  return `
    import { existsSync, writeFileSync } from 'node:fs';
    import { DatabaseSync } from 'node:sqlite';
    const { exec } = DatabaseSync.prototype;
    DatabaseSync.prototype.exec = function (sql) {
      writeFileSync(${JSON.stringify(held)}, '');
      while (!existsSync(${JSON.stringify(goOn)})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      return exec.call(this, sql);
    };`;
}

async function hasOpen(pid: number | undefined, file: string): Promise<boolean> {
  for await (const descriptor of glob(`/proc/${pid}/fd/*`))
    if ((await readlink(descriptor).catch(() => '')) === file) return true;
  return false;
}

/** Runs a command while a service has locked the store but sent no SQL yet. Then lets the service go on. */
async function runDuringStart(t: TestContext, folder: string) {
  const [path, held, goOn] = [join(folder, 'store.db'), join(folder, 'held'), join(folder, 'go-on')];
  const settings = { ENVIRONMENT: 'staging', DATABASE_URL: `sqlite:${path}` };
  const starting = serveInProcess(t, { settings, preload: holdAtFirstStatement(held, goOn) });
  await until(async () => existsSync(held), Boolean, 20_000);
  const command = spawnProgram(['keys', 'list'], { settings });
  const ended = readToEnd(command);
  await until(async () => command.exitCode !== null || (await hasOpen(command.pid, path)), Boolean, 20_000);
  await writeFile(goOn, '');
  await starting;
  return ended;
}

test('a command waits for a service that starts on a new store', { skip }, async (t) => {
  const { code, stderr } = await runDuringStart(t, await realpath(await makeFolder(t)));
  assert.deepEqual([code, stderr], [0, '']);
});

test('a command waits for a service that starts on an existing store', { skip }, async (t) => {
  const folder = await realpath(await makeFolder(t));
  await createSqliteStore(join(folder, 'store.db'));
  const { code, stderr } = await runDuringStart(t, folder);
  assert.deepEqual([code, stderr], [0, '']);
});
