import { computeEtag } from '../../etag.ts';
import { type HeaderTexts, toLines } from './header-lines.ts';

/** An HTTP response, without the headers that differ between requests. */
export interface Answer {
  readonly status: number;
  /** Header lines that are also sent with a 304. */
  readonly lines: string;
  /** Header lines that describe the body: type, length and encoding. A 304 does not have them. */
  readonly bodyLines: string;
  /** Null if the response has no body. */
  readonly body: string | Buffer | null;
  /**
   * The strong `ETag` of the body (RFC 9110, section 8.8.3). `lines` also contains it. Null if the response has no
   * `ETag`.
   */
  readonly etag: string | null;
}

export const jsonType = 'application/json; charset=utf-8';

/**
 * A client may store the response but must revalidate it before each use. Shared caches must not store the response.
 */
const revalidated = 'private, no-cache';

/**
 * Makes a response without a body. Its length is stated, unless the status is 204. Without a length, the client would
 * wait for a body until the connection closes (RFC 9112, section 6.3).
 */
export function makeEmptyAnswer(status: number, headers: HeaderTexts = {}): Answer {
  const bodyLines = status === 204 ? '' : 'content-length: 0\r\n';
  return { status, lines: toLines(headers), bodyLines, body: null, etag: null };
}

/** Makes a response without an `ETag`. */
export function makeAnswer(status: number, text: string, lines = '', type = jsonType): Answer {
  return { status, lines, bodyLines: describeBody(type, Buffer.byteLength(text)), body: text, etag: null };
}

/** Makes a 200 response to a GET, with an `ETag`. The `ETag` is computed from `validated`, by default from `text`. */
export function makeTaggedAnswer(text: string, lines = '', type = jsonType, validated?: string): Answer {
  const bytes = Buffer.from(text);
  const etag = computeEtag(validated === undefined ? bytes : Buffer.from(validated));
  return {
    status: 200,
    lines: flatten(`cache-control: ${revalidated}\r\n${lines}etag: ${etag}\r\n`),
    bodyLines: describeBody(type, bytes.length),
    // V8 holds a serialised text as a tree of pieces, and every write would walk this tree. The copy is flat.
    body: bytes.toString(),
    etag,
  };
}

const bodyLinesStart = new Map<string, string>();

function describeBody(type: string, lengthBytes: number): string {
  let start = bodyLinesStart.get(type);
  if (start === undefined) {
    start = `${toLines({ 'content-type': type })}content-length: `;
    bodyLinesStart.set(type, start);
  }
  return `${start}${lengthBytes}\r\n`;
}

/** Returns a copy that V8 holds as one flat string. */
function flatten(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
