import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { eventually, findFreePort } from './redis-server.ts';

/** Returns false if this machine can start nginx, otherwise the reason. With CI=true, throws instead. */
export async function whyNoNginx(): Promise<string | false> {
  const child = spawn('nginx', ['-v'], { stdio: 'ignore' });
  const [code] = await once(child, 'exit').catch(() => [null]);
  if (code === 0) return false;
  const reason = 'SKIPPED: there is no nginx to start for the tests; install one';
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

const shipped = join(import.meta.dirname, '../../deploy/nginx.conf');

export interface Nginx {
  /** The address for clients, without `/v1`. */
  readonly url: string;
  /** The address of nginx's own status, which is `127.0.0.1:8090` in deploy/nginx.conf. */
  readonly ownUrl: string;
}

/**
 * Starts nginx with `deploy/nginx.conf` in front of instances at these ports of this machine. Replaces the addresses
 * and the writable folders of the file, then applies `changes`. Stops nginx after the test.
 */
export async function startNginx(
  test: Pick<TestContext, 'after'>,
  ports: readonly (string | number)[],
  changes: readonly (readonly [from: string, to: string])[] = [],
): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-nginx-'));
  const port = await findFreePort();
  const ownPort = await findFreePort();
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const places = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};\n`);
  let config = await readFile(shipped, 'utf8');
  const replace = (from: string | RegExp, to: string) => {
    const changed = config.replace(from, to);
    if (changed === config) throw new Error(`deploy/nginx.conf has no ${from}`);
    config = changed;
  };
  replace('pid /run/nginx.pid;', `pid ${join(folder, 'nginx.pid')};\ndaemon off;`);
  replace('http {', `http {\n${places.join('')}`);
  replace('listen 80 ', `listen 127.0.0.1:${port} `);
  replace('listen 127.0.0.1:8090;', `listen 127.0.0.1:${ownPort};`);
  for (const [place, instance] of ports.entries())
    replace(`server service-${place + 1}:8080`, `server 127.0.0.1:${instance}`);
  for (const [from, to] of changes) replace(from, to);
  const file = join(folder, 'nginx.conf');
  await writeFile(file, config);
  await mkdir(join(folder, 'logs'));
  const child = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  test.after(async () => {
    await end(child);
    await rm(folder, { recursive: true });
  });
  await untilListening(child, `http://127.0.0.1:${port}`);
  return { url: `http://127.0.0.1:${port}`, ownUrl: `http://127.0.0.1:${ownPort}` };
}

async function untilListening(child: ChildProcess, url: string): Promise<void> {
  const complaints = child.stderr === null ? '' : text(child.stderr);
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`nginx does not start: ${await complaints}`);
    return fetch(`${url}/openapi.json`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
