import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { after, test } from 'node:test';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { minuteMs } from '../../src/clock.ts';
import { profilePath } from '../../src/operator/session-changes.ts';
import { expectMistake, lifetime, runInProcess } from '../support/command-line.ts';
import { until } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';
import { startConsole } from './console-browser.ts';

const service = await startConsole({ after });
const folder = await makeFolder({ after });
const settings = { OPS_PORT: new URL(service.app.opsUrl).port };
const run = (args: readonly string[]) =>
  runInProcess(['profile', ...args], service.config.databaseUrl, { settings, clock: service.clock.now });

/** Asks for a profile as the command does. */
const ask = (pass: string, body: object = { kind: 'cpu', seconds: 1 }) =>
  fetch(service.app.opsUrl + profilePath, {
    method: 'POST',
    headers: { authorization: `Bearer ${pass}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function readCode(answer: Response) {
  return ((await answer.json()) as { readonly code: string }).code;
}

test('a CPU profile has the functions of the process', async () => {
  const file = join(folder, 'a.cpuprofile');
  const { code, stderr } = await run(['--cpu', '1s', '--to', file]);
  assert.equal(code, 0, stderr);
  const { nodes } = JSON.parse(await readFile(file, 'utf8'));
  assert.ok(nodes.length > 1);
});

test('only its owner may read a heap snapshot', async () => {
  const file = join(folder, 'a.heapsnapshot');
  const { code, stderr } = await run(['--heap', '--to', file]);
  assert.equal(code, 0, stderr);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.ok('snapshot' in JSON.parse(await readFile(file, 'utf8')));
});

test('a profile replaces a file only with --force', async () => {
  const file = join(folder, 'b.cpuprofile');
  await writeFile(file, 'mine');
  expectMistake(await run(['--cpu', '1s', '--to', file]), 1, /exists already: --force replaces it/);
  assert.equal(await readFile(file, 'utf8'), 'mine');
  assert.equal((await run(['--cpu', '1s', '--to', file, '--force'])).code, 0);
  assert.notEqual(await readFile(file, 'utf8'), 'mine');
});

test('the audit log has who took a profile', async () => {
  await service.sessions.makePass('heap');
  const { items } = await service.store.audit.list({ limit: 1, newestId: null, action: 'profile.taken' });
  assert.deepEqual([items[0]?.subject, items[0]?.actor.kind], ['heap', 'command']);
});

test('a pass works once', async () => {
  const pass = await service.sessions.makePass('cpu');
  assert.equal((await ask(pass)).status, 200);
  assert.equal(await readCode(await ask(pass)), 'token_invalid');
});

test('a pass for a CPU profile takes no heap snapshot', async () => {
  const pass = await service.sessions.makePass('cpu');
  assert.equal(await readCode(await ask(pass, { kind: 'heap', seconds: 1 })), 'token_invalid');
});

test('a pass works for a minute', async () => {
  const pass = await service.sessions.makePass('cpu');
  service.clock.advance(minuteMs);
  assert.equal(await readCode(await ask(pass)), 'token_invalid');
});

test('a token of an admin takes no profile', async () => {
  await service.store.operators.add('mira', 'admin');
  const { token } = await service.sessions.makeToken('mira');
  assert.equal(await readCode(await ask(token)), 'token_invalid');
  assert.equal(await readCode(await ask(await service.makeLink())), 'token_invalid');
});

test('a pass signs nobody in', async () => {
  const answer = await service.exchange(await service.sessions.makePass('cpu'));
  assert.equal(await readCode(answer), 'session_missing');
});

test('a profile of more than 30 s is refused', async () => {
  expectMistake(await run(['--cpu', '31s', '--to', '-']), 2, /1s to 30s/);
  const pass = await service.sessions.makePass('cpu');
  assert.equal(await readCode(await ask(pass, { kind: 'cpu', seconds: 31 })), 'invalid_body');
});

test('an instance takes one profile at a time', async () => {
  const passes = [await service.sessions.makePass('cpu'), await service.sessions.makePass('cpu')];
  const statuses = (await Promise.all(passes.map((pass) => ask(pass)))).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 409]);
});

test('the heap snapshot of a client that leaves does not keep others from a profile', async () => {
  const left = await ask(await service.sessions.makePass('heap'), { kind: 'heap', seconds: 1 });
  const busy = await ask(await service.sessions.makePass('cpu'));
  await left.body?.cancel();
  const again = async () => (await ask(await service.sessions.makePass('cpu'))).status;
  assert.equal(busy.status, 409);
  assert.equal(await until(again, (status) => status !== 409, 30_000), 200);
});

test('a profile whose reader leaves before the end fails with one line', async () => {
  const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
  const stderr = new PassThrough({ encoding: 'utf8' });
  const code = await runCommandLine(['profile', '--cpu', '1s', '--to', '-'], {
    environment: { ...settings, ENVIRONMENT: 'staging', DATABASE_URL: service.config.databaseUrl },
    terminal: {
      stdin: Readable.from([]),
      stdout: new Writable({ write: (_chunk, _encoding, done) => done(closed) }),
      stderr,
    },
    lifetime,
    clock: service.clock.now,
  });
  assert.deepEqual([code, stderr.read()], [1, 'error: the reader of standard output left before the end\n']);
});

test('a command without a service says where it looked', async () => {
  const args = ['profile', '--heap', '--to', '-'];
  const ran = await runInProcess(args, service.config.databaseUrl, { settings: { OPS_PORT: '9' } });
  expectMistake(ran, 1, /no service answers at http:\/\/127\.0\.0\.1:9/);
});
