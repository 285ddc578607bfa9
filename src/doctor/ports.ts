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

/**
 * Whether a port is free, or held by the service itself; asks whoever holds it, within two seconds. An Animal Store that
 * holds it is the service where `isServed` says that the store is served now; null where that cannot be told.
 */
export async function checkPort(surface: Surface, isServed: Promise<boolean | null>): Promise<Finding> {
  const { setting, host, port } = surface;
  const place = `${setting} ${host}:${port}`;
  if (port === 0) return ok('port', `${setting} is 0: a start takes a free one`);
  const failure = await tryToListen(host, port);
  if (failure === null) return ok('port', `${place} is free`);
  if (failure.code === 'EADDRINUSE') {
    const holder = await askHolder(surface);
    return judgeHolder(place, setting, holder === 'ours' ? await isServed : holder);
  }
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

/** `holder` is who has the port: for an Animal Store whether it serves this store, else what is known of it. */
function judgeHolder(place: string, setting: string, holder: boolean | null | 'another' | 'silent'): Finding {
  const stopIt = `stop it, or set ${setting} to another port`;
  if (holder === true) return ok('port', `${place} is held by the service`);
  if (holder === false)
    return problem('port', `${place} is held by another Animal Store: nothing serves this store`, stopIt);
  if (holder === null)
    return warning(
      'port',
      `${place} is held by an Animal Store, and whether it serves this store cannot be told`,
      `if it is another, ${stopIt}`,
    );
  if (holder === 'another') return problem('port', `${place} is taken by another program`, stopIt);
  const is = `${place} is taken, and whoever holds it does not answer within ${answerMsMax / secondMs} s`;
  return warning('port', is, 'if it is the service, restart it; else stop it');
}

/** What keeps this process from listening there; null where nothing does. It listens for a moment only. */
async function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | null>();
  server.once('error', resolve);
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  return promise;
}

/** Whether the one who holds a port answers as the service does. */
async function askHolder({ host, port, path, isOurs }: Surface): Promise<'ours' | 'another' | 'silent'> {
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  try {
    const request = get({ host: near, port, path, agent: false, signal: AbortSignal.timeout(answerMsMax) });
    const [answer]: IncomingMessage[] = await once(request, 'response');
    const isOwn = answer !== undefined && isOurs(answer.headers, await text(answer));
    return isOwn ? 'ours' : 'another';
  } catch (error) {
    return error instanceof Error && error.name === 'AbortError' ? 'silent' : 'another';
  }
}
