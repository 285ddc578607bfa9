import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { whyNoMounts, withMounts } from '../support/mounts.ts';
import { runProgram, serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

const skip = whyNoMounts();
const rows = 50_000;

/** Creates a data folder, and a wrapper command under which only this folder is writable. */
async function makeReadOnlyRoot(t: TestContext) {
  const folder = await makeFolder(t);
  const data = join(folder, 'data');
  await mkdir(data);
  const wrapper = withMounts(
    { from: data, at: data },
    ...['/tmp', '/var/tmp', '/dev/shm', '/'].map((readOnly) => ({ readOnly })),
  );
  const settings = { ENVIRONMENT: 'staging', DATABASE_URL: `sqlite:${join(data, 'store.db')}` };
  return { data, wrapper, settings };
}

test('an import of 50,000 rows, an export, a backup and a service write only to the data folder', {
  skip,
}, async (t) => {
  const { data, wrapper, settings } = await makeReadOnlyRoot(t);
  const file = join(data, 'animals.csv');
  const lines = Array.from(
    { length: rows },
    (_, row) => `an animal with a longer name ${row},${row},available`,
  );
  await writeFile(file, `name,categoryId,status\n${lines.join('\n')}\n`);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram([...args, '--json'], { settings, wrapper });
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout);
  };
  for (let times = 1; times <= 2; times += 1) assert.equal((await run('import', file)).imported, rows);
  assert.equal((await run('export', '--output', join(data, 'all.ndjson'))).exported, 2 * rows);
  assert.ok((await run('backup', join(data, 'backup.db'))).bytes > 0);
  const service = await serveInProcess(t, { settings, wrapper });
  assert.equal((await service.end('SIGTERM')).code, 0);
  const left = (await readdir(data)).filter((name) => !name.startsWith('store.db'));
  assert.deepEqual(left.sort(), ['all.ndjson', 'animals.csv', 'backup.db']);
});
