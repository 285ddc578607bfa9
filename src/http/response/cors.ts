import type { IncomingMessage } from 'node:http';
import type { Answer } from './answer.ts';
import { makeEmptyAnswer } from './answer.ts';
import { toLines } from './header-lines.ts';

/** Allows pages of listed origins to call from a browser (contract section 8, CORS_ORIGINS). */
export interface Cors {
  /** The header lines of an answer to a request. Empty if no origin is listed. */
  linesFor(request: IncomingMessage): string;
  /** The answer to a preflight from a listed origin. Null for every other request. */
  answerPreflight(request: IncomingMessage): Answer | null;
}

/** `exposed` are the headers that a page may read. `methods` and `requestHeaders` are what it may send. */
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
