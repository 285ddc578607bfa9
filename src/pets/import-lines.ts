import { isUtf8 } from 'node:buffer';
import { OperatorError } from '../errors.ts';

/** The most bytes in one record of a file, the same as in a request body. */
export const recordBytesMax = 65_536;

/** A line of a file without its newline. */
export interface Line {
  /** Starts at 1. */
  readonly number: number;
  readonly text: string;
  /** False if the bytes are not UTF-8. Then `text` has U+FFFD in their place. */
  readonly isUtf8: boolean;
}

const newline = 0x0a;
const byteOrderMark = '\ufeff';

/**
 * Splits bytes at LF into lines, one batch for each chunk. A CR stays at the end of its line, and a byte order mark is
 * dropped. Keeps at most one chunk and one line in memory. Throws OperatorError for a line longer than
 * `recordBytesMax`, before it reads the rest.
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

/** Throws OperatorError for a record that is too long. `number` is its first line. */
export function checkLength(number: number, length: number): void {
  if (length <= recordBytesMax) return;
  throw new OperatorError(
    `line ${number}: the record that begins here has more than ${recordBytesMax} bytes`,
  );
}
