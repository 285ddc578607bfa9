import assert from 'node:assert/strict';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { readToEnd, runProgram, serveInProcess, spawnProgram, until } from '../support/processes.ts';
import { findFreePort } from '../support/redis-server.ts';
import { type Ending, makeFolder } from '../support/service.ts';

const commands = [
  ['keys', 'list'],
  ['export', '--format', 'csv'],
];

/** Creates a store with animals and returns the settings of a command that uses it. */
async function prepare(t: Ending) {
  const settings = { DATABASE_URL: `sqlite:${await makeFolder(t)}/store.db` };
  await runProgram(['import', 'examples/animals.csv'], { settings });
  return settings;
}

describe('standard output', () => {
  for (const args of commands)
    test(`may be closed by its reader without an error of "${args.join(' ')}"`, async (t) => {
      const child = spawnProgram(args, { settings: await prepare(t) });
      child.stdout?.destroy();
      const [[code], stderr] = await Promise.all([once(child, 'close'), child.stderr && text(child.stderr)]);
      assert.deepEqual([code, stderr], [0, '']);
    });

  test('fails a backup with one line if its reader leaves before the end', async (t) => {
    const settings = await prepare(t);
    const child = spawnProgram(['backup', '-'], { settings });
    child.stdout?.destroy();
    const [[code], stderr] = await Promise.all([once(child, 'close'), child.stderr && text(child.stderr)]);
    assert.deepEqual([code, stderr], [1, 'error: the reader of standard output left before the end\n']);
    const { stdout } = await runProgram(['audit', '--action', 'store.backed_up', '--json'], { settings });
    assert.deepEqual(JSON.parse(stdout), []);
  });

  test('may be closed by its reader without stopping a service', async (t) => {
    const service = await serveInProcess(t, { settings: { LOG_REQUESTS: 'all' } });
    service.child.stdout?.destroy();
    service.child.stderr?.destroy();
    for (let count = 0; count < 3; count += 1) assert.equal((await fetch(`${service.url}/pets`)).status, 401);
    service.child.kill('SIGTERM');
    assert.deepEqual(await once(service.child, 'close'), [0, null]);
  });

  describe('that cannot be written', {
    skip: process.platform !== 'linux' && 'there is no /dev/full here',
  }, () => {
    const line = /^error: standard output cannot be written: ENOSPC[^\n]*\n$/;

    for (const args of [...commands, ['backup', '-']])
      test(`ends "${args.join(' ')}" with one line and exit code 1`, async (t) => {
        const settings = await prepare(t);
        const { code, stderr } = await runProgram(args, { settings, stdout: openSync('/dev/full', 'w') });
        assert.equal(code, 1);
        assert.match(stderr, line);
      });

    test('does not end a service, which reports the error once', async (t) => {
      const PORT = String(await findFreePort());
      const child = spawnProgram(['serve'], {
        settings: {
          DATABASE_URL: `sqlite:${await makeFolder(t)}/store.db`,
          ENVIRONMENT: 'staging',
          LOG_REQUESTS: 'all',
          PORT,
          OPS_PORT: '0',
        },
        stdout: openSync('/dev/full', 'w'),
      });
      t.after(() => child.kill('SIGKILL'));
      const ended = readToEnd(child);
      const ask = () => fetch(`http://127.0.0.1:${PORT}/v1/pets`).then(({ status }) => status, String);
      await until(ask, (answer) => answer === 401, 20_000);
      for (let count = 0; count < 3; count += 1) assert.equal(await ask(), 401);
      child.kill('SIGTERM');
      const { code, stderr } = await ended;
      assert.equal(code, 0);
      assert.match(stderr, line);
    });
  });
});
