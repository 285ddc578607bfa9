import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { exchange } from '../../bench/exchange.ts';
import { type RunningServer, startServer } from '../../bench/processes.ts';
import { makeFolder } from '../support/service.ts';

const skip = process.platform === 'linux' ? false : 'the state of a process is read from /proc';
const first = { method: 'GET', path: '/' } as const;
/** It tells when it is asked to end. */
const program = `
  require('node:http').createServer((_, response) => response.end('Rex')).listen(process.argv[1], '127.0.0.1');
  process.on('SIGTERM', () => { console.log('asked to end'); process.exit(); });`;

async function start(t: TestContext): Promise<{ readonly server: RunningServer; readonly log: string }> {
  const log = join(await makeFolder(t), 'server.log');
  const args = ['-e', program];
  const server = await startServer(
    (port) => ({ file: process.execPath, args: [...args, String(port)], isPinned: false }),
    first,
    {},
    log,
  );
  t.after(() => server.stop());
  return { server, log };
}

/** Whether each thread is halted; a real process has no clock to move, so it is looked at until it is. */
async function untilHalted({ pid }: RunningServer): Promise<void> {
  const isHalted = (thread: string) =>
    /^\d+ \(.*\) T/.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
  while (!readdirSync(`/proc/${pid}/task`).every(isHalted)) await pause(1);
}

test('a server that is halted answers once it goes on', { skip }, async (t) => {
  const { server } = await start(t);
  server.halt();
  await untilHalted(server);
  const usedMs = server.readCpuMs();
  let isAnswered = false;
  const answer = exchange(server.origin, first, {}).then(({ body }) => {
    isAnswered = true;
    return body;
  });
  // Long enough for one that is not halted.
  await pause(100);
  const seen = { isAnswered, usedMs: server.readCpuMs() };
  server.goOn();
  assert.equal(await answer, 'Rex');
  assert.deepEqual(seen, { isAnswered: false, usedMs });
});

test('a server that is halted ends by itself when it is stopped', { skip }, async (t) => {
  const { server, log } = await start(t);
  server.halt();
  await untilHalted(server);
  await server.stop();
  assert.throws(() => process.kill(server.pid, 0), { code: 'ESRCH' });
  assert.equal(readFileSync(log, 'utf8'), 'asked to end\n');
});
