import type { ChildProcess } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { endProgram, makeProgramFolder, whyNoProgram } from './programs.ts';
import { eventually, findFreePort } from './redis-server.ts';
import type { Ending } from './service.ts';

export const whyNoNginx = () => whyNoProgram('nginx', '-v');
export const whyNoHaproxy = () => whyNoProgram('haproxy', '-v');

/** Both proxies end their worker processes on SIGTERM. */
const endProxy = (child: ChildProcess) => endProgram(child, 'SIGTERM');

const shipped = join(import.meta.dirname, '../../deploy/nginx.conf');

/**
 * Starts nginx with `deploy/nginx.conf` in front of instances at these ports of this machine. Replaces the addresses
 * and the writable folders of the file, then applies `changes`. Stops nginx after the test. Returns the address for clients, without `/v1`, and the
 * address of nginx's own status, which is `127.0.0.1:8090` in the file.
 */
export async function startNginx(
  test: Ending,
  ports: readonly (string | number)[],
  changes: readonly (readonly [from: string, to: string])[] = [],
) {
  const { folder, start } = await makeProgramFolder(test, endProxy);
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
  await untilAnswering(start('nginx', ['-p', folder, '-c', file], { stdio }), url);
  return { url, ownUrl: `http://127.0.0.1:${ownPort}` };
}

/**
 * Starts HAProxy with `deploy/haproxy.cfg` in front of instances with these ports and operator's ports of this machine.
 * Returns the address for clients, without `/v1`. Stops HAProxy after the test.
 */
export async function startHaproxy(
  test: Ending,
  instances: readonly { readonly port: number; readonly opsPort: number }[],
): Promise<string> {
  const { folder, start } = await makeProgramFolder(test, endProxy);
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
  await untilAnswering(start('haproxy', ['-db', '-f', file], { stdio }), url);
  return url;
}

const stdio = ['ignore' as const, 'ignore' as const, 'pipe' as const];

async function untilAnswering(proxy: ChildProcess, url: string): Promise<void> {
  const complaints = proxy.stderr === null ? '' : text(proxy.stderr);
  await eventually(async () => {
    if (proxy.exitCode !== null) throw new Error(`the proxy does not start: ${await complaints}`);
    return fetch(`${url}/openapi.json`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
}
