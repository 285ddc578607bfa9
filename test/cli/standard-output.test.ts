import assert from 'node:assert/strict';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { runProgram, serveInProcess, spawnProgram } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

describe('standard output', () => {
  test('that nobody reads any more is no failure', async (t) => {
    const settings = { DATABASE_URL: `sqlite:${await makeFolder(t)}/store.db` };
    const child = spawnProgram(['keys', 'list'], { settings });
    child.stdout?.destroy();
    const [[code], stderr] = await Promise.all([once(child, 'close'), child.stderr && text(child.stderr)]);
    assert.deepEqual([code, stderr], [0, '']);
  });

  test('that nobody reads any more does not end a service', async (t) => {
    const settings = { DATABASE_URL: `sqlite:${await makeFolder(t)}/store.db`, LOG_REQUESTS: 'all' };
    const service = await serveInProcess(t, { settings });
    service.child.stdout?.destroy();
    service.child.stderr?.destroy();
    for (let count = 0; count < 3; count += 1) assert.equal((await fetch(`${service.url}/pets`)).status, 401);
    service.child.kill('SIGTERM');
    assert.deepEqual(await once(service.child, 'close'), [0, null]);
  });

  test('that cannot be written ends a command with one line and exit code 1', {
    skip: process.platform !== 'linux' && 'there is no /dev/full here',
  }, async (t) => {
    const settings = { DATABASE_URL: `sqlite:${await makeFolder(t)}/store.db` };
    const { code, stderr } = await runProgram(['keys', 'list'], {
      settings,
      stdout: openSync('/dev/full', 'w'),
    });
    assert.equal(code, 1);
    assert.match(stderr, /^error: standard output cannot be written: ENOSPC[^\n]*\n$/);
  });
});
