import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { exchange } from '../../bench/exchange.ts';
import { type RunningServer, startServer } from '../../bench/processes.ts';
import { makeFolder } from '../support/service.ts';

const skip = process.platform === 'linux' ? false : 'the state of a process is read from /proc';
const first = { method: 'GET', path: '/' } as const;
const program =
  "require('node:http').createServer((_, response) => response.end('Rex')).listen(process.argv[1], '127.0.0.1')";

async function start(t: TestContext): Promise<RunningServer> {
  const log = join(await makeFolder(t), 'server.log');
  const build = (port: number) => ({ file: process.execPath, args: ['-e', program, String(port)] });
  const server = await startServer(build, first, {}, log);
  t.after(() => server.stop());
  return server;
}

/** One letter: T for a process that is halted. */
function readState({ pid }: RunningServer): string | undefined {
  return /^\d+ \(.*\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

async function untilHalted(server: RunningServer): Promise<void> {
  while (readState(server) !== 'T') await pause(1);
}

test('a server that is halted goes on where it was', { skip }, async (t) => {
  const server = await start(t);
  server.halt();
  await untilHalted(server);
  const usedMs = server.readCpuMs();
  const answer = exchange(server.origin, first, {});
  await pause(100);
  assert.equal(readState(server), 'T');
  assert.equal(server.readCpuMs(), usedMs);
  server.goOn();
  await answer;
  assert.notEqual(readState(server), 'T');
});

test('a server that is halted ends when it is stopped', { skip }, async (t) => {
  const server = await start(t);
  server.halt();
  await untilHalted(server);
  await server.stop();
  assert.throws(() => process.kill(server.pid, 0), { code: 'ESRCH' });
});
