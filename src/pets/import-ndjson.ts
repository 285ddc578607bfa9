import { parseExactJson } from '../exact-json.ts';
import { type Line, readLines } from './import-lines.ts';
import { notUtf8Rule, type Row } from './import-row.ts';

const notJsonRule = 'must be a JSON object on one line';

/** Reads the rows of newline-delimited JSON, one row per line. Skips blank lines. */
export async function* readNdjsonRows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Row[]> {
  for await (const lines of readLines(bytes)) yield lines.filter(({ text }) => text.trim() !== '').map(toRow);
}

function toRow({ number, text, isUtf8 }: Line): Row {
  if (!isUtf8) return { line: number, brokenRule: notUtf8Rule };
  try {
    return { line: number, candidate: parseExactJson(text) };
  } catch (error) {
    return { line: number, brokenRule: error instanceof RangeError ? error.message : notJsonRule };
  }
}
