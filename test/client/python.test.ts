import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../docs/markdown.ts';
import { readToEnd } from '../support/processes.ts';
import { whyNoPython } from '../support/python.ts';
import { startStage } from './python-stage.ts';

const skip = await whyNoPython();
const folder = join(root, 'client-python');
const modules = globSync('tests/test_*.py', { cwd: folder }).map((path) => basename(path, '.py'));
const stage = skip === false ? await startStage({ after }) : {};

for (const name of modules.sort())
  test(`the Python client passes ${name}`, { skip }, async () => {
    const env = { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1', ...stage };
    const args = ['-W', 'error', '-m', 'unittest', `tests.${name}`];
    const child = spawn('python3', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const { code, stdout, stderr } = await readToEnd(child);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stderr, /^Ran [1-9]\d* tests? in /m);
  });
