import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { eventually, findFreePort } from './redis-server.ts';

/** Returns false if this machine can start a program, otherwise the reason. With CI=true, throws instead. */
export async function whyNoProgram(name: 'nginx' | 'haproxy'): Promise<string | false> {
  const child = spawn(name, ['-v'], { stdio: 'ignore' });
  const [code] = await once(child, 'exit').catch(() => [null]);
  if (code === 0) return false;
  const reason = `SKIPPED: there is no ${name} to start for the tests; install one`;
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

export const whyNoNginx = () => whyNoProgram('nginx');

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
  const url = `http://127.0.0.1:${port}`;
  await startProxy(test, ['nginx', '-p', folder, '-c', file], folder, url);
  return { url, ownUrl: `http://127.0.0.1:${ownPort}` };
}

/**
 * Starts HAProxy with `deploy/haproxy.cfg` in front of instances with these ports and operator's ports of this machine.
 * Returns the address for clients, without `/v1`. Stops HAProxy after the test.
 */
export async function startHaproxy(
  test: Pick<TestContext, 'after'>,
  instances: readonly { readonly port: number; readonly opsPort: number }[],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-haproxy-'));
  const port = await findFreePort();
  let config = await readFile(join(import.meta.dirname, '../../deploy/haproxy.cfg'), 'utf8');
  config = config.replace('bind :8080', `bind 127.0.0.1:${port}`);
  for (const [place, instance] of instances.entries())
    config = config.replace(
      `service-${place + 1}:8080`,
      `127.0.0.1:${instance.port} port ${instance.opsPort}`,
    );
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, config);
  const url = `http://127.0.0.1:${port}`;
  await startProxy(test, ['haproxy', '-db', '-f', file], folder, url);
  return url;
}

/** Resolves when the proxy answers at `url`. After the test, stops it and removes its folder. */
async function startProxy(
  test: Pick<TestContext, 'after'>,
  [program = '', ...args]: readonly string[],
  folder: string,
  url: string,
): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  test.after(async () => {
    await end(child);
    await rm(folder, { recursive: true });
  });
  const complaints = child.stderr === null ? '' : text(child.stderr);
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${program} does not start: ${await complaints}`);
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
