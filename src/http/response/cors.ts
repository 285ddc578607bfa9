import type { IncomingMessage } from 'node:http';
import { type Answer, type HeaderList, makeEmptyAnswer } from './answer.ts';

export type Cors = ReturnType<typeof createCors>;

/** Lets pages of the listed origins read the `exposed` headers and send the `methods` and `requestHeaders`. */
export function createCors(
  origins: readonly string[],
  { exposed, methods, requestHeaders }: Record<'exposed' | 'methods' | 'requestHeaders', readonly string[]>,
) {
  const vary = origins.length === 0 ? [] : ['vary', 'Origin'];
  const expose = ['access-control-expose-headers', exposed.join(', ')];
  const byOrigin = new Map(
    origins.map((origin) => [origin, [...vary, 'access-control-allow-origin', origin, ...expose]]),
  );
  const preflight = makeEmptyAnswer(204, [
    ...['access-control-allow-methods', methods.join(', ')],
    ...['access-control-allow-headers', requestHeaders.join(', ')],
    ...['access-control-max-age', '600'],
  ]);

  return {
    headersFor: ({ headers: { origin } }: IncomingMessage): HeaderList => byOrigin.get(origin ?? '') ?? vary,
    /** Returns the response to a preflight request from a listed origin, and null for every other request. */
    answerPreflight({ method, headers }: IncomingMessage): Answer | null {
      const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
      return isPreflight && byOrigin.has(headers.origin ?? '') ? preflight : null;
    },
  };
}
