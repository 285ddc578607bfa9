import type { FastifyRequest } from 'fastify';
import type { Caller } from '../accounts/account.ts';
import type { KeyRefusal } from '../accounts/key-verifier.ts';
import { AppError } from '../errors.ts';
import { readPath } from './path.ts';

export type Refusal = KeyRefusal | 'api_key_missing';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose valid key the request bears; null without one. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** Answered without a key. */
    isPublic?: boolean;
  }
}

const usualScheme = 'Bearer ';
export const missing = { refusal: 'api_key_missing' } as const;
/** What stands after the scheme; a tab there is part of it, as only spaces part the two (RFC 9110, section 11.4). */
const bearer = /^bearer(?: +|(?=\t))(.+)$/i;

/** Who sends a request: only the `Authorization` header counts (contract section 5). */
export function identify<T>(
  authorization: string | undefined,
  verify: (token: string) => T,
): T | typeof missing {
  if (authorization === undefined) return missing;
  const token = readToken(authorization);
  return token === undefined ? missing : verify(token);
}

/** Nearly all write it in the one usual way, and to run the expression costs as much as to look a key up. */
function readToken(authorization: string): string | undefined {
  const isUsual =
    authorization.startsWith(usualScheme) && authorization.charCodeAt(usualScheme.length) > 0x20;
  return isUsual ? authorization.slice(usualScheme.length) : bearer.exec(authorization)?.[1];
}

const messages: Record<Refusal, string> = {
  api_key_missing: 'Authorization: an API key is required, as in "Authorization: Bearer <API_KEY>"',
  api_key_invalid: 'Authorization: this is no valid API key',
  api_key_expired: 'Authorization: this API key has expired',
  api_key_revoked: 'Authorization: this API key has been revoked',
};

export function keyError(refusal: Refusal): AppError {
  return new AppError(refusal, messages[refusal]);
}

const underVersion = /^\/v1(?:\/|%2f|$)/i;

/**
 * Whether a request is answered only to a key: every route that does not say otherwise, every unknown address under
 * `/v1`, and whatever cannot be read. It asks the route first, since a path may be written in more than one way.
 */
export function needsKey(request: FastifyRequest): boolean {
  if (request.routeOptions.url !== undefined) return !isDocumentation(request);
  const path = readPath(request.url);
  return path === null || underVersion.test(path);
}

/** Whether a request is for the documentation, which has a count of its own and asks for no key. */
export function isDocumentation({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url !== undefined && routeOptions.config.isPublic === true;
}
