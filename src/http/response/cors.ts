import type { IncomingMessage } from 'node:http';
import { type Answer, type HeaderList, listHeaders, makeEmptyAnswer } from './answer.ts';

export type Cors = ReturnType<typeof createCors>;

/** Maximum number of header names that a preflight may ask for, and maximum length of their list in bytes. */
export const askedHeadersMax = 64;
export const askedHeadersBytesMax = 4_096;

/** Lets pages of the listed origins read the `exposed` headers, and send the `methods` and any header. */
export function createCors(
  origins: readonly string[],
  { exposed, methods, requestHeaders }: Record<'exposed' | 'methods' | 'requestHeaders', readonly string[]>,
) {
  const vary = origins.length === 0 ? [] : ['vary', 'Origin'];
  const expose = ['access-control-expose-headers', exposed.join(', ')];
  const byOrigin = new Map(
    origins.map((origin) => [origin, [...vary, 'access-control-allow-origin', origin, ...expose]]),
  );
  const ownHeaders = requestHeaders.join(', ');
  const allow = (headers: string) =>
    makeEmptyAnswer(
      204,
      listHeaders({
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': headers,
        'access-control-max-age': '600',
      }),
    );

  return {
    headersFor: ({ headers: { origin } }: IncomingMessage): HeaderList => byOrigin.get(origin ?? '') ?? vary,
    /**
     * Returns the response to a preflight request from a listed origin, and null for every other request. It allows the
     * headers that the page asks for, such as the `traceparent` of a tracing library. If it does not ask, or not within
     * the bounds, it allows `requestHeaders`.
     */
    answerPreflight({ method, headers }: IncomingMessage): Answer | null {
      const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
      if (!isPreflight || !byOrigin.has(headers.origin ?? '')) return null;
      const asked = headers['access-control-request-headers'];
      return allow(asked !== undefined && isHeaderList(asked) ? asked : ownHeaders);
    },
  };
}

const headerName = /^[ \t]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*$/;

/** True if a text is a list of header names within the bounds. */
function isHeaderList(text: string): boolean {
  if (text.length > askedHeadersBytesMax) return false;
  const names = text.split(',', askedHeadersMax + 1);
  return names.length <= askedHeadersMax && names.every((name) => headerName.test(name));
}
