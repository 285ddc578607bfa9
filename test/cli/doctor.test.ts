import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runProgram } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

const ports = { PORT: '0', OPS_PORT: '0' };

describe('animal-store doctor', () => {
  test('exits with 0 if there is no problem', async (t) => {
    const DATABASE_URL = `sqlite:${join(await makeFolder(t), 'store.db')}`;
    const { code, stdout, stderr } = await runProgram(['doctor'], { settings: { ...ports, DATABASE_URL } });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^ok {7}settings {5}all are valid, for development\n/);
    assert.match(stdout, /\nno problems, 0 warnings\n$/);
    assert.ok(!stdout.includes('\x1b'));
  });

  test('reports each problem with its solution but without a password', async () => {
    const DATABASE_URL = 'postgres://user:S3cret@127.0.0.1:1/a';
    const settings = { ...ports, DATABASE_URL, REDIS_URL: 'redis://user:S3cret@127.0.0.1:1' };
    const { code, stdout, stderr } = await runProgram(['doctor'], { settings });
    assert.deepEqual([code, stderr], [1, 'error: the doctor found 2 problems\n']);
    const refused = 'cannot be used: .*ECONNREFUSED.*\\n +-> check that';
    const store = `store +PostgreSQL 127\\.0\\.0\\.1:1/a ${refused} the server runs`;
    const redis = `redis +Redis 127\\.0\\.0\\.1:1 ${refused} it runs`;
    for (const problem of [store, redis]) assert.match(stdout, new RegExp(`^problem  ${problem}`, 'm'));
    assert.doesNotMatch(stdout, /S3cret|\n +at /);
  });

  test('warns of a misspelt setting, and of a file with a secret that others can read', async (t) => {
    const folder = await makeFolder(t);
    const DATABASE_URL_FILE = join(folder, 'address');
    await writeFile(DATABASE_URL_FILE, `sqlite:${folder}/store.db`, { mode: 0o644 });
    const settings = { ...ports, DATABASE_URL: '', DATABASE_URL_FILE, LOG_REQUEST: 'all' };
    const { code, stdout, stderr } = await runProgram(['doctor'], { settings });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^warning +settings +LOG_REQUEST is not a setting .*\n +-> .* LOG_REQUESTS is meant$/m,
    );
    assert.match(
      stdout,
      /^warning +secrets +other users have access to \S+\/address \(644\)\n +-> chmod 600/m,
    );
  });

  test('prints one JSON value with --json, even if the settings are wrong', async () => {
    const { code, stdout } = await runProgram(['doctor', '--json'], { settings: { PORT: 'http' } });
    const { problems, warnings, findings } = JSON.parse(stdout);
    assert.deepEqual([code, problems, warnings], [1, 1, 0]);
    assert.partialDeepStrictEqual(findings[0], { check: 'settings', verdict: 'problem' });
  });

  const hasTerminal = spawnSync('script', ['--version']).status === 0;
  test('uses colours on a terminal, but not if NO_COLOR is set', {
    skip: !hasTerminal && 'there is no script to make a terminal with',
  }, async (t) => {
    const main = join(import.meta.dirname, '../../src/main.ts');
    const DATABASE_URL = `sqlite:${await makeFolder(t)}/store.db`;
    const terminal = { ...ports, DATABASE_URL, PATH: process.env['PATH'], TERM: 'xterm-256color' };
    const command = ['-qec', `"${process.execPath}" "${main}" doctor`, '/dev/null'];
    const print = (env: NodeJS.ProcessEnv) => spawnSync('script', command, { env, encoding: 'utf8' }).stdout;
    assert.ok(print(terminal).includes('\x1b[32mok'));
    assert.match(print({ ...terminal, NO_COLOR: '1' }), /^ok /);
  });
});
