import { once } from 'node:events';
import { get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { secondMs } from '../clock.ts';
import type { Config } from '../config.ts';
import { reasonOf } from '../errors.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** A port of the service. A request to `path` needs no key. */
interface Port {
  readonly setting: 'PORT' | 'OPS_PORT';
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** Returns true if a response to `path` looks like a response of this program, and of few others. */
  readonly isOurs: (headers: IncomingHttpHeaders, body: string) => boolean;
}

const answerMsMax = 2 * secondMs;

/**
 * Checks that each port of the service is free, or in use by the service itself. If it is in use, sends a request to
 * the program there, for at most 2 s. `isServed` is true if a service serves this store, null if unknown. An Animal
 * Store on a port counts as the service itself only if `isServed` is true.
 */
export function checkPorts(config: Config, isServed: boolean | null): Promise<Finding[]> {
  const { host, port, opsHost, opsPort } = config;
  const isPublic: Port['isOurs'] = (headers) => 'ratelimit-policy' in headers && 'x-request-id' in headers;
  const isOperators: Port['isOurs'] = (_headers, body) => body === '{"status":"ok"}';
  const ports: readonly Port[] = [
    { setting: 'PORT', host, port, path: '/openapi.json', isOurs: isPublic },
    { setting: 'OPS_PORT', host: opsHost, port: opsPort, path: '/healthz', isOurs: isOperators },
  ];
  return Promise.all(ports.map((one) => checkPort(one, isServed)));
}

async function checkPort(subject: Port, isServed: boolean | null): Promise<Finding> {
  const { setting, host, port } = subject;
  const place = `${setting} ${host}:${port}`;
  if (port === 0) return ok('port', `${setting} is 0: each start takes a free port`);
  const failure = await tryToListen(host, port);
  if (failure === null) return ok('port', `${place} is free`);
  if (failure.code === 'EADDRINUSE') return askHolder(subject, place, isServed);
  return describeFailure(failure, subject);
}

/** The finding about a port on which the service cannot listen, although it is not in use. */
export function describeFailure(
  failure: NodeJS.ErrnoException,
  { setting, host, port }: Pick<Port, 'setting' | 'host' | 'port'>,
): Finding {
  const place = `${setting} ${host}:${port}`;
  switch (failure.code) {
    case 'EACCES': {
      const todo = `set ${setting} to 1024 or above, or give the service CAP_NET_BIND_SERVICE`;
      return problem('port', `this user may not listen on ${place}`, todo);
    }
    case 'EADDRNOTAVAIL': {
      const todo = 'use one of its addresses, or 0.0.0.0 for all of them';
      return problem('port', `this machine has no address ${host}`, todo);
    }
    default: {
      const is = `the service cannot listen on ${place}: ${reasonOf(failure)}`;
      return problem('port', is, 'check the address');
    }
  }
}

/** Listens and stops immediately. Returns the error, or null if listening works. */
async function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  try {
    await once(server.listen({ host, port }), 'listening');
    await once(server.close(), 'close');
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

/** An address that means all addresses is for listening only. A request goes to one of them. */
const nearOf: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** Asks the program that uses the port who it is. */
async function askHolder(subject: Port, place: string, isServed: boolean | null): Promise<Finding> {
  const { setting, host, port, path, isOurs } = subject;
  const stopIt = `stop it, or set ${setting} to another port`;
  const another = problem('port', `${place} is in use by another program`, stopIt);
  try {
    const signal = AbortSignal.timeout(answerMsMax);
    // Without an agent, so that the connection ends with the answer.
    const request = get({ host: nearOf.get(host) ?? host, port, path, agent: false, signal });
    const [answer]: IncomingMessage[] = await once(request, 'response');
    if (answer === undefined) return another;
    const body = await text(answer);
    if (!isOurs(answer.headers, body)) return another;
  } catch (error) {
    // Of a request, the timeout of the signal is an AbortError too.
    const isTimeout = error instanceof Error && error.name === 'AbortError';
    if (!isTimeout) return another;
    const is = `${place} is in use by a program that does not answer within ${answerMsMax / secondMs} s`;
    return warning('port', is, 'if it is the service, restart it; else stop it');
  }
  if (isServed) return ok('port', `${place} is in use by the service`);
  if (isServed === null) {
    const unsure = `${place} is in use by an Animal Store; it may serve another store`;
    return warning('port', unsure, `if it serves another store, ${stopIt}`);
  }
  const is = `${place} is in use by another Animal Store; no service serves this store`;
  return problem('port', is, stopIt);
}
