import { once } from 'node:events';
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { secondMs } from '../clock.ts';
import type { Config } from '../config.ts';
import { reasonOf } from '../errors.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** An address on which the service listens, and a way to recognise the service there. */
export interface Surface {
  /** The name of the setting for the port: `PORT` or `OPS_PORT`. */
  readonly setting: string;
  readonly host: string;
  readonly port: number;
  /** A path that needs no key. */
  readonly path: string;
  /** Returns true if a response to `path` looks like a response of this program. */
  readonly isOurs: (headers: IncomingHttpHeaders, body: string) => boolean;
}

const answerMsMax = 2 * secondMs;

/**
 * Returns the addresses on which the service listens. The service is recognised by headers or a body that few other
 * programs send.
 */
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
 * Checks that a port is free or in use by the service itself. If it is in use, sends a request to the program there,
 * for at most 2 s. `isServed` is true if a service serves this store, null if unknown. An Animal Store on the port
 * counts as the service itself only if `isServed` is true.
 */
export async function checkPort(surface: Surface, isServed: Promise<boolean | null>): Promise<Finding> {
  const { setting, host, port } = surface;
  const place = `${setting} ${host}:${port}`;
  if (port === 0) return ok('port', `${setting} is 0: each start takes a free port`);
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
      `set ${setting} to 1024 or above, or give the service CAP_NET_BIND_SERVICE`,
    );
  if (failure.code === 'EADDRNOTAVAIL')
    return problem(
      'port',
      `this machine has no address ${host}`,
      'use one of its addresses, or 0.0.0.0 for all of them',
    );
  return problem('port', `the service cannot listen on ${place}: ${reasonOf(failure)}`, 'check the address');
}

/**
 * Returns the finding for a port that is in use. The values of `holder`:
 * - `true`: an Animal Store that serves this store.
 * - `false`: an Animal Store that does not serve this store.
 * - `null`: an Animal Store that may serve this store or another.
 * - `another`: another program.
 * - `silent`: a program that does not respond.
 */
function judgeHolder(place: string, setting: string, holder: boolean | null | 'another' | 'silent'): Finding {
  const stopIt = `stop it, or set ${setting} to another port`;
  if (holder === true) return ok('port', `${place} is in use by the service`);
  if (holder === false)
    return problem(
      'port',
      `${place} is in use by another Animal Store; no service serves this store`,
      stopIt,
    );
  if (holder === null)
    return warning(
      'port',
      `${place} is in use by an Animal Store; it may serve another store`,
      `if it serves another store, ${stopIt}`,
    );
  if (holder === 'another') return problem('port', `${place} is in use by another program`, stopIt);
  const is = `${place} is in use by a program that does not answer within ${answerMsMax / secondMs} s`;
  return warning('port', is, 'if it is the service, restart it; else stop it');
}

/** Listens and stops immediately. Returns the error, or null if listening works. */
async function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | null>();
  server.once('error', resolve);
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  return promise;
}

/**
 * Sends a request to the program that uses the port. Returns `silent` if the program does not respond within
 * `answerMsMax`.
 */
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
