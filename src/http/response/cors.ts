import type { IncomingMessage } from 'node:http';
import type { Answer } from './answer.ts';
import { makeEmptyAnswer } from './answer.ts';
import { toLines } from './header-lines.ts';

/** Allows browsers to call the service from pages of the listed origins (contract section 8, CORS_ORIGINS). */
export interface Cors {
  /** Returns the CORS header lines of the response. Empty if no origin is listed. */
  linesFor(request: IncomingMessage): string;
  /** Returns the response to a preflight request from a listed origin. Returns null for every other request. */
  answerPreflight(request: IncomingMessage): Answer | null;
}

/**
 * - `exposed`: response headers that a page may read.
 * - `methods` and `requestHeaders`: methods and headers that a page may send.
 */
export function createCors(
  origins: readonly string[],
  { exposed, methods, requestHeaders }: Record<'exposed' | 'methods' | 'requestHeaders', readonly string[]>,
): Cors {
  if (origins.length === 0) return { linesFor: () => '', answerPreflight: () => null };
  const otherLines = toLines({ vary: 'Origin' });
  const linesByOrigin = new Map(
    origins.map((origin) => [
      origin,
      otherLines +
        toLines({
          'access-control-allow-origin': origin,
          'access-control-expose-headers': exposed.join(', '),
        }),
    ]),
  );
  const preflight = makeEmptyAnswer(204, {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': requestHeaders.join(', '),
    'access-control-max-age': '600',
  });

  return {
    linesFor({ headers: { origin } }) {
      return (origin !== undefined && linesByOrigin.get(origin)) || otherLines;
    },
    answerPreflight({ method, headers }) {
      const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
      return isPreflight && linesByOrigin.has(headers.origin ?? '') ? preflight : null;
    },
  };
}
