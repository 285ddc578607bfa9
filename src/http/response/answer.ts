import { computeEtag } from '../../etag.ts';
import { type HeaderTexts, toLines } from './header-lines.ts';

/** An answer as it is sent, but for the headers that change from one request to the next. */
export interface Answer {
  readonly status: number;
  /** Header lines that a 304 has, too. */
  readonly lines: string;
  /** Header lines of the body: its type, length and encoding. */
  readonly bodyLines: string;
  /** Null if the answer has no body. */
  readonly body: string | Buffer | null;
  /** The strong validator of the body (RFC 9110, section 8.8.3), which is among the lines; null if there is none. */
  readonly etag: string | null;
}

export const jsonType = 'application/json; charset=utf-8';

/** The client may keep the answer, and asks each time whether it still holds; a shared cache keeps nothing. */
const revalidated = 'private, no-cache';

/** An answer without a body. */
export function makeEmptyAnswer(status: number, headers: HeaderTexts = {}): Answer {
  return { status, lines: toLines(headers), bodyLines: '', body: null, etag: null };
}

/** An answer of a text, without a validator. */
export function makeAnswer(status: number, text: string, lines = '', type = jsonType): Answer {
  return { status, lines, bodyLines: describeBody(type, Buffer.byteLength(text)), body: text, etag: null };
}

/** An answer with a validator: what a GET gives. The validator is made of the text, unless something else is named. */
export function makeTaggedAnswer(text: string, lines = '', type = jsonType, validated?: string): Answer {
  const bytes = Buffer.from(text);
  const etag = computeEtag(validated === undefined ? bytes : Buffer.from(validated));
  return {
    status: 200,
    lines: flatten(`cache-control: ${revalidated}\r\n${lines}etag: ${etag}\r\n`),
    bodyLines: describeBody(type, bytes.length),
    // A serialiser's text is a tree of its pieces, which each sending would walk again; this one is flat.
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

/** A text in one piece. */
function flatten(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
