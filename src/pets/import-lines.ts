import { isUtf8 } from 'node:buffer';
import { OperatorError } from '../errors.ts';

/** The most bytes that one record of a file may have: as many as the body of a request. */
export const recordBytesMax = 65_536;

/** One line of a file, without its newline. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  /** False where the bytes were no UTF-8; then `text` has U+FFFD in their place. */
  readonly isUtf8: boolean;
}

const newline = 0x0a;
const byteOrderMark = '\ufeff';

/**
 * Splits bytes at LF into lines, in batches of what came together; a CR stays at the end of its line, a byte order
 * mark at the start is dropped. Holds one chunk and one line at most: throws OperatorError for a line that is longer
 * than `recordBytesMax`, before the rest of it is read.
 */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  let number = 1;
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const data = Buffer.concat([rest, chunk]);
    const lines: Line[] = [];
    let start = 0;
    for (let end = data.indexOf(newline); end !== -1; end = data.indexOf(newline, start)) {
      lines.push(toLine(number, data.subarray(start, end)));
      number += 1;
      start = end + 1;
    }
    rest = data.subarray(start);
    checkLength(number, rest.length);
    yield lines;
  }
  if (rest.length > 0) yield [toLine(number, rest)];
}

function toLine(number: number, bytes: Buffer): Line {
  checkLength(number, bytes.length);
  const text = bytes.toString();
  return {
    number,
    text: number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text,
    isUtf8: isUtf8(bytes),
  };
}

/** Throws where a record that begins in a line of this number cannot be one. */
export function checkLength(number: number, length: number): void {
  if (length <= recordBytesMax) return;
  throw new OperatorError(
    `line ${number}: the record that begins here has more than ${recordBytesMax} bytes`,
  );
}
