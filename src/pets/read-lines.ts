import { isUtf8 } from 'node:buffer';
import { OperatorError } from '../errors.ts';

/** Maximum number of bytes in a record of a file. It equals the maximum of a request body. */
export const recordBytesMax = 65_536;

/**
 * A row of an import file, which begins at `line`. `brokenRule` is the rule of the file format that the row breaks.
 * Otherwise `candidate` is the parsed row, not validated yet, and `json` is the text of a row of NDJSON.
 */
export type Row =
  | { readonly line: number; readonly candidate: unknown; readonly json?: string }
  | { readonly line: number; readonly brokenRule: string };

/** The `brokenRule` of a row with bytes that are not UTF-8. */
export const notUtf8Rule = 'must be UTF-8';

/** A line of a file without its newline. The first has the number 1. */
export interface Line {
  readonly number: number;
  readonly text: string;
  readonly byteLength: number;
  /** False if the line contains bytes that are not UTF-8. `text` has U+FFFD in place of such bytes. */
  readonly isUtf8: boolean;
}

const newline = 0x0a;
const byteOrderMark = '\ufeff';

/**
 * Splits bytes into lines at LF and yields one batch of lines per chunk. A CR stays at the end of its line, a byte order
 * mark is dropped. Throws OperatorError as soon as a line exceeds `recordBytesMax`, so at most one is in memory.
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
    byteLength: bytes.length,
    isUtf8: isUtf8(bytes),
  };
}

/** Throws OperatorError if `length` exceeds `recordBytesMax`. `number` is the first line of the record. */
export function checkLength(number: number, length: number): void {
  if (length <= recordBytesMax) return;
  throw new OperatorError(
    `line ${number}: the record that begins here has more than ${recordBytesMax} bytes`,
  );
}

/** Returns the rule that unknown columns or fields break, with their names. */
export function describeUnknown(
  what: 'column' | 'field',
  unknown: readonly string[],
  known: readonly string[],
): string {
  const named = unknown.map((name) => `"${name}"`).join(', ');
  const are = unknown.length === 1 ? `the ${what} ${named} is` : `the ${what}s ${named} are`;
  return `${are} not known; known ${what}s are ${known.join(', ')}, and --ignore-unknown ignores others`;
}
