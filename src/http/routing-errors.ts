import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { readPath } from './path.ts';

/**
 * Answers a request without one clear host with 400, an address that is none with 404, and a method that an address
 * does not know with 405 and `Allow`: all before a body is read. To be called before the routes are added, as it
 * learns the addresses from them.
 */
export function refuseUnroutable(server: FastifyInstance): void {
  const addresses = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  server.addHook('onRoute', ({ url, method }) => {
    const texts = url.split(/:[^/]+/).map(RegExp.escape);
    const pattern = new RegExp(`^${texts.join('[^/]+')}$`);
    const address = addresses.get(url) ?? { pattern, methods: new Set() };
    for (const name of [method].flat()) address.methods.add(name);
    addresses.set(url, address);
  });

  function findAllowed(path: string): string | undefined {
    const address = [...addresses.values()].find(({ pattern }) => pattern.test(path));
    return address && [...address.methods].sort().join(', ');
  }

  function explain(request: FastifyRequest, reply: FastifyReply): AppError {
    const allowed = findAllowed(readPath(request.url) ?? '');
    if (allowed === undefined) return new AppError('not_found', 'there is nothing at this address');
    reply.header('allow', allowed);
    return new AppError('method_not_allowed', `this address knows ${allowed}, not ${request.method}`);
  }

  server.addHook('onRequest', (request, reply, done) => {
    if (request.raw.httpVersionMajor !== 1) {
      reply.raw.shouldKeepAlive = false;
      done(otherVersion);
    } else if (!hasOneHost(request))
      done(new AppError('invalid_parameter', 'Host: this header is required, once'));
    else if (request.is404) done(explain(request, reply));
    else done();
  });
}

/** Node's parser also takes HTTP/0.9 (a request line that names no version) and HTTP/2.0, written as HTTP/1.1 is. */
const otherVersion = new AppError('invalid_parameter', 'the request line must name HTTP/1.1 or HTTP/1.0');

/**
 * HTTP/1.1 asks for exactly one Host (RFC 9112, section 3.2). Node's own check would answer without our headers; a
 * repeated one comes joined by commas, which no host has.
 */
function hasOneHost({ headers, raw }: FastifyRequest): boolean {
  return headers.host === undefined ? raw.httpVersionMinor === 0 : !headers.host.includes(',');
}
