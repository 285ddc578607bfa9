import { computeEtag } from '../../etag.ts';
import { type HeaderTexts, toLines } from './header-lines.ts';

/** An answer without the headers that differ between requests. */
export interface Answer {
  readonly status: number;
  /** Header lines that a 304 also has. */
  readonly lines: string;
  /** Header lines of the body: type, length and encoding. */
  readonly bodyLines: string;
  /** Null if the answer has no body. */
  readonly body: string | Buffer | null;
  /** The strong validator of the body (RFC 9110, section 8.8.3), which is also in `lines`. Null if there is none. */
  readonly etag: string | null;
}

export const jsonType = 'application/json; charset=utf-8';

/** A client may store the answer but must revalidate it each time. A shared cache stores nothing. */
const revalidated = 'private, no-cache';

/** Makes an answer without a body. */
export function makeEmptyAnswer(status: number, headers: HeaderTexts = {}): Answer {
  return { status, lines: toLines(headers), bodyLines: '', body: null, etag: null };
}

/** A text answer without a validator. */
export function makeAnswer(status: number, text: string, lines = '', type = jsonType): Answer {
  return { status, lines, bodyLines: describeBody(type, Buffer.byteLength(text)), body: text, etag: null };
}

/**
 * Makes the answer to a GET, with a validator. The validator is made from `validated`, or from the text by default.
 */
export function makeTaggedAnswer(text: string, lines = '', type = jsonType, validated?: string): Answer {
  const bytes = Buffer.from(text);
  const etag = computeEtag(validated === undefined ? bytes : Buffer.from(validated));
  return {
    status: 200,
    lines: flatten(`cache-control: ${revalidated}\r\n${lines}etag: ${etag}\r\n`),
    bodyLines: describeBody(type, bytes.length),
    // The text of a serialiser is a tree of pieces that every write would walk. This copy is flat.
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

/** Copies a text into one flat piece. */
function flatten(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
