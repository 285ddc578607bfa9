import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Limiter } from '../limits/limiter.ts';
import { settle } from '../soon.ts';
import { securityHeaders } from './security-headers.ts';

const exposedHeaders = [
  'Allow',
  'Content-Security-Policy',
  'Deprecation',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Content-Type-Options',
  'X-Frame-Options',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(', ');

const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer',
  'access-control-max-age': '600',
};

/**
 * Lets the pages of listed origins call from a browser: a preflight is answered without a key and uncounted, every
 * header of ours can be read (contract section 8, CORS_ORIGINS). Of other origins it takes no notice. Tells whether
 * the request is a preflight, which needs nothing more.
 */
export function createCors(origins: readonly string[], limiter: Limiter) {
  return function allowOrigin(request: FastifyRequest, reply: FastifyReply): boolean {
    if (origins.length === 0) return false;
    const { origin, 'access-control-request-method': wantedMethod } = request.headers;
    reply.header('vary', 'Origin');
    if (origin === undefined || !origins.includes(origin)) return false;
    reply
      .header('access-control-allow-origin', origin)
      .header('access-control-expose-headers', exposedHeaders);
    if (request.method !== 'OPTIONS' || wantedMethod === undefined) return false;
    reply.header('x-request-id', request.id).headers(securityHeaders).headers(preflightHeaders);
    settle(
      limiter.peekAddress(request.ip),
      ({ headers }) => reply.code(204).headers(headers).send(),
      (error) => reply.send(error),
    );
    return true;
  };
}
