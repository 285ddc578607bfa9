import type { Readable } from 'node:stream';
import { computeEtag } from '../../etag.ts';

/** Header values by lower-case name. */
export type HeaderTexts = Readonly<Record<string, string>>;

/** Header names and values alternately, as `ServerResponse.writeHead` takes them. Node checks them when it sends them. */
export type HeaderList = readonly string[];

export function listHeaders(headers: HeaderTexts): HeaderList {
  return Object.entries(headers).flat();
}

/** An HTTP response, without the headers that differ between requests. */
export interface Answer {
  readonly status: number;
  /** Headers that are also sent with a 304. */
  readonly headers: HeaderList;
  /** Headers that describe the body: type, length and encoding. A 304 does not have them. */
  readonly bodyHeaders: HeaderList;
  /** A string has a character for each byte (`toByteText`). Null if the response has no body. */
  readonly body: string | Buffer | null;
  /** A body of unknown length, in place of `body`. */
  readonly stream?: Readable;
  /** The strong `ETag` of the body, which `headers` also contains. Null if there is none. */
  readonly etag: string | null;
}

export const jsonType = 'application/json; charset=utf-8';

/** A client may store the response, but must revalidate it before each use. Shared caches must not store it. */
const revalidated = 'private, no-cache';

/** Without a length, the client would wait for a body until the connection closes (RFC 9112, section 6.3). */
export function makeEmptyAnswer(status: number, headers: HeaderList = []): Answer {
  const bodyHeaders = status === 204 ? [] : ['content-length', '0'];
  return { status, headers, bodyHeaders, body: null, etag: null };
}

export function makeAnswer(status: number, text: string, headers: HeaderList = [], type = jsonType): Answer {
  const body = toByteText(text);
  return { status, headers, bodyHeaders: describeBody(type, body), body, etag: null };
}

/** Makes a 200 response to a GET, with an `ETag`. The `ETag` is computed from `validated`, by default from `text`. */
export function makeTaggedAnswer(
  text: string,
  headers: HeaderList = [],
  type = jsonType,
  validated = text,
): Answer {
  const etag = computeEtag(validated);
  const body = toByteText(text);
  return {
    status: 200,
    headers: ['cache-control', revalidated, ...headers, 'etag', etag],
    bodyHeaders: describeBody(type, body),
    body,
    etag,
  };
}

/** The encoding that writes each character of a body as one byte. */
export const byteEncoding = 'latin1';

/**
 * Returns the UTF-8 of a text as a string with a character for each byte. Node copies such a string to the socket together
 * with the head. Any other string it would convert at every write, which costs most for letters outside ASCII and for long
 * pages. The copy is also flat: V8 holds a serialised text as a tree of pieces, and every write would walk this tree.
 */
function toByteText(text: string): string {
  return Buffer.from(text).toString(byteEncoding);
}

function describeBody(type: string, body: string): HeaderList {
  return ['content-type', type, 'content-length', String(body.length)];
}

/** Headers against guessed content types and against frames (OWASP REST Security Cheat Sheet). */
export function securityHeaders(policy = "frame-ancestors 'none'"): HeaderList {
  return listHeaders({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'content-security-policy': policy,
  });
}
