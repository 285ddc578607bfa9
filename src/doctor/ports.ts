import { once } from 'node:events';
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { secondMs } from '../clock.ts';
import type { Config } from '../config.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

/** A place where the service is to listen, and how to tell that it does. */
export interface Surface {
  /** The settings that name it, as an operator is told: `PORT`. */
  readonly setting: string;
  readonly host: string;
  readonly port: number;
  /** A path that the service answers without a key. */
  readonly path: string;
  /** Whether an answer to it is the service's own. */
  readonly isOurs: (headers: IncomingHttpHeaders, body: string) => boolean;
}

const answerMsMax = 2 * secondMs;

/** What the service listens on: its own answers are known by a header, or a body, that nobody else sends. */
export function listSurfaces(config: Pick<Config, 'host' | 'port' | 'opsHost' | 'opsPort'>): Surface[] {
  return [
    {
      setting: 'PORT',
      host: config.host,
      port: config.port,
      path: '/openapi.json',
      isOurs: (headers) => 'ratelimit-policy' in headers && 'x-request-id' in headers,
    },
    {
      setting: 'OPS_PORT',
      host: config.opsHost,
      port: config.opsPort,
      path: '/healthz',
      isOurs: (_headers, body) => body === '{"status":"ok"}',
    },
  ];
}

/** Whether a port is free, or held by the service itself; asks whoever holds it, within two seconds. */
export async function checkPort(surface: Surface): Promise<Finding> {
  const { setting, host, port } = surface;
  const place = `${setting} ${host}:${port}`;
  if (port === 0) return ok('port', `${setting} is 0: a start takes a free one`);
  const failure = await tryToListen(host, port);
  if (failure === null) return ok('port', `${place} is free`);
  if (failure.code === 'EADDRINUSE') return (await askHolder(surface, place)) ?? taken(place, setting);
  if (failure.code === 'EACCES')
    return problem(
      'port',
      `this user may not listen on ${place}`,
      `set ${setting} to 1024 or above, or give it CAP_NET_BIND_SERVICE`,
    );
  if (failure.code === 'EADDRNOTAVAIL')
    return problem(
      'port',
      `this machine has no address ${host}`,
      'name one of its addresses, or 0.0.0.0 for all',
    );
  return problem(
    'port',
    `${place} cannot be listened on: ${reasonOf(failure)}`,
    'see that the address is right',
  );
}

function taken(place: string, setting: string): Finding {
  return problem(
    'port',
    `${place} is taken by another program`,
    `stop it, or set ${setting} to another port`,
  );
}

/** What keeps this process from listening there; null where nothing does. It listens for a moment only. */
async function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | null>();
  server.once('error', resolve);
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  return promise;
}

/** What is found where the one who holds a port answers as the service does, or not at all; null where it is another. */
async function askHolder({ host, port, path, isOurs }: Surface, place: string): Promise<Finding | null> {
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  try {
    const request = get({ host: near, port, path, agent: false, signal: AbortSignal.timeout(answerMsMax) });
    const [answer]: IncomingMessage[] = await once(request, 'response');
    const isOwn = answer !== undefined && isOurs(answer.headers, await text(answer));
    return isOwn ? ok('port', `${place} is held by the service, which answers`) : null;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AbortError') return null;
    const is = `${place} is taken, and whoever holds it does not answer within ${answerMsMax / secondMs} s`;
    return warning('port', is, 'if it is the service, restart it; else stop it');
  }
}
