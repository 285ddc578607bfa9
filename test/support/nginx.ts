import type { SpawnOptions } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { endProgram, makeProgramFolder, whyNoProgram } from './programs.ts';
import { eventually, findFreePort } from './redis-server.ts';
import type { Ending } from './service.ts';

export const whyNoNginx = () => whyNoProgram('nginx', '-v');
export const whyNoHaproxy = () => whyNoProgram('haproxy', '-v');

const options: SpawnOptions = { stdio: ['ignore', 'ignore', 'pipe'] };

/** Prepares a proxy with a file of `deploy/`, in which `replace` exchanges texts. Stops the proxy after the test. */
async function prepareProxy(test: Ending, name: string) {
  // Both proxies end their worker processes on SIGTERM.
  const { folder, start } = await makeProgramFolder(test, (child) => endProgram(child, 'SIGTERM'));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  let config = await readFile(join(import.meta.dirname, '../../deploy', name), 'utf8');
  return {
    folder,
    port,
    url,
    replace(from: string, to: string): void {
      const changed = config.replace(from, to);
      if (changed === config) throw new Error(`deploy/${name} has no ${from}`);
      config = changed;
    },
    /** Starts the program with these arguments and the file. Resolves when an instance answers through it. */
    async start(program: string, ...args: string[]): Promise<void> {
      const file = join(folder, name);
      await writeFile(file, config);
      const proxy = start(program, [...args, file], options);
      const complaints = proxy.stderr === null ? '' : text(proxy.stderr);
      await eventually(async () => {
        if (proxy.exitCode !== null) throw new Error(`the proxy does not start: ${await complaints}`);
        const answer = await fetch(`${url}/openapi.json`).catch(() => null);
        return answer?.ok ?? false;
      });
    },
  };
}

/**
 * Starts nginx with `deploy/nginx.conf` in front of instances at these ports of this machine. Replaces the addresses
 * and the writable folders of the file, then applies `changes`. Returns the address for clients, without `/v1`, and the
 * address of nginx's own status, which is `127.0.0.1:8090` in the file.
 */
export async function startNginx(
  test: Ending,
  ports: readonly (string | number)[],
  changes: readonly (readonly [from: string, to: string])[] = [],
) {
  const { folder, port, url, replace, start } = await prepareProxy(test, 'nginx.conf');
  const ownPort = await findFreePort();
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const places = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};\n`);
  replace('pid /run/nginx.pid;', `pid ${join(folder, 'nginx.pid')};\ndaemon off;`);
  replace('http {', `http {\n${places.join('')}`);
  replace('listen 80 ', `listen 127.0.0.1:${port} `);
  replace('listen 127.0.0.1:8090;', `listen 127.0.0.1:${ownPort};`);
  for (const [place, instance] of ports.entries())
    replace(`server service-${place + 1}:8080`, `server 127.0.0.1:${instance}`);
  for (const [from, to] of changes) replace(from, to);
  await mkdir(join(folder, 'logs'));
  await start('nginx', '-p', folder, '-c');
  return { url, ownUrl: `http://127.0.0.1:${ownPort}` };
}

type Ports = Readonly<Record<'port' | 'opsPort', number | string>>;

/**
 * Starts HAProxy with `deploy/haproxy.cfg` in front of instances with these ports of this machine. Replaces the addresses of
 * the file, then applies `changes`. Returns the address for clients, without `/v1`, and a function that reads a field of
 * HAProxy's statistics for each instance.
 */
export async function startHaproxy(
  test: Ending,
  instances: readonly Ports[],
  changes: readonly (readonly [from: string, to: string])[] = [],
) {
  const { folder, port, url, replace, start } = await prepareProxy(test, 'haproxy.cfg');
  const socket = join(folder, 'statistics');
  replace('global', `global\n    stats socket ${socket}`);
  replace('bind :8080', `bind 127.0.0.1:${port}`);
  for (const [place, instance] of instances.entries())
    replace(`service-${place + 1}:8080`, `127.0.0.1:${instance.port} port ${instance.opsPort}`);
  for (const [from, to] of changes) replace(from, to);
  await start('haproxy', '-db', '-f');
  return {
    url,
    /** Returns a field of each instance, and then of all together (`show stat` in the management guide of HAProxy). */
    async readStatistics(field: string): Promise<string[]> {
      const [names = [], ...rows] = (await text(connect(socket).end('show stat\n')))
        .trim()
        .split('\n')
        .map((line) => line.split(','));
      const place = names.indexOf(field);
      return rows.filter(([proxy]) => proxy === 'instances').map((row) => row[place] ?? '');
    },
  };
}
