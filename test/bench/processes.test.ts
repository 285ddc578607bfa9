import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type RunningServer, startServer } from '../../bench/processes.ts';
import { makeFolder } from '../support/service.ts';

const skip = process.platform === 'linux' ? false : 'CPU time and memory are read from /proc';
const burntMs = 50;
/** A server whose worker and child process each use CPU time before it listens. On SIGTERM, it prints a line. */
const program = `
  const { spawn } = require('node:child_process');
  const { once } = require('node:events');
  const { Worker } = require('node:worker_threads');
  const burn = 'while (process.threadCpuUsage().user < ${burntMs * 1_000});';
  const worker = new Worker(burn + 'require("node:worker_threads").parentPort.on("message", () => {}).postMessage("")', { eval: true });
  const child = spawn(process.execPath, ['-e', burn + 'console.log("done"); setInterval(() => {}, 1e6)']);
  process.on('SIGTERM', () => { console.log('asked to end'); child.kill(); process.exit(); });
  Promise.all([once(worker, 'message'), once(child.stdout, 'data')]).then(() =>
    require('node:http').createServer((_, response) => response.end('Rex')).listen(process.argv[1], '127.0.0.1'));`;

async function start(t: TestContext): Promise<{ readonly server: RunningServer; readonly log: string }> {
  const log = join(await makeFolder(t), 'server.log');
  const build = (port: number) => ({ file: process.execPath, args: ['-e', program, String(port)] });
  const server = await startServer(build, { method: 'GET', path: '/' }, {}, log);
  t.after(() => server.stop());
  return { server, log };
}

test('the CPU time of a server includes its threads and its child processes', { skip }, async (t) => {
  const { server } = await start(t);
  const usedMs = server.readCpuMs();
  assert.ok(usedMs >= 2 * burntMs, `${usedMs} ms`);
});

test('stop lets a server end by itself', { skip }, async (t) => {
  const { server, log } = await start(t);
  await server.stop();
  assert.throws(() => process.kill(server.pid, 0), { code: 'ESRCH' });
  assert.equal(readFileSync(log, 'utf8'), 'asked to end\n');
});
