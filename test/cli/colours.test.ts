import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { makeFolder } from '../support/service.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const hasTerminal = spawnSync('script', ['--version']).status === 0;

/** The output of the doctor on a terminal. */
function runOnTerminal(settings: Record<string, string>): string {
  const { status, stdout } = spawnSync(
    'script',
    ['-qec', `"${process.execPath}" "${main}" doctor`, '/dev/null'],
    {
      env: { PATH: process.env['PATH'], TERM: 'xterm-256color', ...settings },
      encoding: 'utf8',
    },
  );
  assert.equal(status, 0, stdout);
  return stdout;
}

describe('colours', { skip: !hasTerminal && 'there is no script to make a terminal with' }, () => {
  const makeSettings = async (test: Parameters<typeof makeFolder>[0]) => ({
    DATABASE_URL: `sqlite:${await makeFolder(test)}/store.db`,
    PORT: '0',
    OPS_PORT: '0',
  });

  test('are used on a terminal', async (t) => {
    assert.ok(runOnTerminal(await makeSettings(t)).includes('\x1b[32mok'));
  });

  test('are not used on a terminal if NO_COLOR is set', async (t) => {
    assert.ok(!runOnTerminal({ ...(await makeSettings(t)), NO_COLOR: '1' }).includes('\x1b['));
  });
});
