import { parse } from 'csv-parse/sync';
import { OperatorError } from '../errors.ts';
import { parseCanonicalInt64 } from '../int64.ts';
import { checkLength, readLines } from './import-lines.ts';
import { notUtf8Rule, type Row } from './import-row.ts';

/** A record's text: one line, or several where a newline stands in quotes. */
interface CsvRecord {
  readonly line: number;
  readonly text: string;
  readonly isUtf8: boolean;
}

const quotesRule =
  'must be quoted as RFC 4180 says: a field with a quote stands in quotes, each quote in it doubled';

/**
 * The rows of comma-separated values (RFC 4180; LF will do) whose first record names the columns `name`, `categoryId`
 * and, if any, `status` and `id`, in any order and among others, which are ignored. An empty status or id is an omitted one. Throws
 * OperatorError where columns are missing or doubled, and where a broken quote leaves open where the next row begins.
 */
export async function* readCsvRows(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Row[]> {
  let columns: readonly string[] | undefined;
  for await (const records of readRecords(bytes)) {
    const fields = parseRecords(records);
    const rows: Row[] = [];
    for (const [index, record] of records.entries()) {
      if (columns === undefined) columns = readHeader(record, fields[index]);
      else rows.push(toRow(columns, record, fields[index]));
    }
    yield rows;
  }
  if (columns === undefined)
    throw new OperatorError('the file is empty: its first line must name the columns');
}

function readHeader({ line, isUtf8 }: CsvRecord, columns: readonly string[] | undefined): readonly string[] {
  if (!isUtf8) throw new OperatorError(`line ${line}: the header ${notUtf8Rule}`);
  if (columns === undefined) throw new OperatorError(`line ${line}: the header ${quotesRule}`);
  for (const name of ['name', 'categoryId', 'status', 'id']) {
    const count = columns.filter((column) => column === name).length;
    if (count === 0 && name !== 'status' && name !== 'id')
      throw new OperatorError(`line ${line}: the header must have a column ${name}; commas part the columns`);
    if (count > 1) throw new OperatorError(`line ${line}: the header has the column ${name} ${count} times`);
  }
  return columns;
}

function toRow(columns: readonly string[], record: CsvRecord, fields: readonly string[] | undefined): Row {
  const { line, isUtf8 } = record;
  if (!isUtf8) return { line, brokenRule: notUtf8Rule };
  if (fields === undefined) return { line, brokenRule: quotesRule };
  if (fields.length !== columns.length)
    return { line, brokenRule: `must have ${columns.length} fields as the header has, not ${fields.length}` };
  const name = fields[columns.indexOf('name')];
  const categoryId = fields[columns.indexOf('categoryId')] ?? '';
  const status = fields[columns.indexOf('status')] ?? '';
  const id = fields[columns.indexOf('id')] ?? '';
  const candidate = {
    name,
    categoryId: parseCanonicalInt64(categoryId) ?? categoryId,
    ...(status !== '' && { status }),
    ...(id !== '' && { id: parseCanonicalInt64(id) ?? id }),
  };
  return { line, candidate };
}

/** Puts the lines of one record together; blank lines are none. */
async function* readRecords(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly CsvRecord[]> {
  let begun: CsvRecord | undefined;
  for await (const lines of readLines(bytes)) {
    const records: CsvRecord[] = [];
    for (const { number, text, isUtf8 } of lines) {
      if (begun === undefined && /^\r?$/.test(text)) continue;
      const record: CsvRecord =
        begun === undefined
          ? { line: number, text, isUtf8 }
          : { line: begun.line, text: `${begun.text}\n${text}`, isUtf8: begun.isUtf8 && isUtf8 };
      checkLength(record.line, record.text.length);
      const isOpen = endsInQuotes(text, begun !== undefined);
      if (!isOpen) records.push(record);
      begun = isOpen ? record : undefined;
    }
    yield records;
  }
  if (begun !== undefined) yield [begun];
}

/** Whether a quoted field is open at a line's end; where quotes are broken, the line's end is the record's. */
function endsInQuotes(line: string, beginsInQuotes: boolean): boolean {
  let quoted = beginsInQuotes;
  for (let quote = line.indexOf('"'); quote !== -1; quote = line.indexOf('"', quote + 1)) {
    if (!quoted && quote > 0 && line[quote - 1] !== ',') return false;
    if (quoted && line[quote + 1] === '"') quote += 1;
    else quoted = !quoted;
  }
  return quoted;
}

/** The fields of each record, undefined where its quotes are broken. All at once, for speed, where none is. */
function parseRecords(records: readonly CsvRecord[]): (readonly string[] | undefined)[] {
  const fields = parseText(records.map(({ text }) => `${text}\n`).join(''));
  if (fields?.length === records.length) return fields;
  return records.map(({ line, text }) => {
    const [alone] = parseText(`${text}\n`) ?? [];
    if (alone === undefined && text.includes('\n'))
      throw new OperatorError(`line ${line}: a row ${quotesRule}; where the next row begins is unknown`);
    return alone;
  });
}

function parseText(text: string): string[][] | undefined {
  try {
    return parse(text, { record_delimiter: ['\r\n', '\n'], relax_column_count: true });
  } catch {
    return undefined;
  }
}
