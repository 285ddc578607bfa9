import { parse } from 'csv-parse/sync';
import { OperatorError } from '../errors.ts';
import { parseCanonicalInt64 } from '../int64.ts';
import { NewPetSchema, petFields, petInputs } from './pet.ts';
import { checkLength, describeUnknown, type Line, notUtf8Rule, type Row, readLines } from './read-lines.ts';

const quotesRule =
  'must follow RFC 4180: enclose a field that contains a quote in quotes, and double each quote inside the field';

const unnamedRule = 'must have no value in a column without a name; --ignore-unknown ignores such columns';

/**
 * Reads the rows of a CSV file (RFC 4180, but a line may also end in LF alone). Its header names the required fields of an
 * animal, and may name its other fields and `id`. An empty field that is not required counts as absent. Rows without any
 * value are skipped, as spreadsheets write them. Throws OperatorError if the file is empty, its header is invalid, a
 * record is too long, or a broken quote hides where the next row starts.
 */
export async function* readCsvRows(
  bytes: AsyncIterable<Uint8Array>,
  ignoresUnknown: boolean,
): AsyncGenerator<readonly Row[]> {
  let columns: readonly string[] | undefined;
  for await (const records of readRecords(bytes)) {
    const fields = parseRecords(records);
    const rows: Row[] = [];
    for (const [index, record] of records.entries()) {
      if (columns === undefined) columns = readHeader(record, fields[index], ignoresUnknown);
      else if (fields[index]?.every((value) => value === '') !== true)
        rows.push(toRow(columns, record, fields[index], ignoresUnknown));
    }
    yield rows;
  }
  if (columns === undefined)
    throw new OperatorError('the file is empty: its first line must name the columns');
}

const knownColumns: readonly string[] = [...petFields, 'id'];
const requiredFields: readonly string[] = NewPetSchema.required;
const int64Columns = ['id', ...petInputs.filter(({ isInt64 }) => isInt64).map(({ field }) => field)];

function readHeader(
  { number, isUtf8 }: Line,
  columns: readonly string[] | undefined,
  ignoresUnknown: boolean,
): readonly string[] {
  const refuse = (rule: string) => new OperatorError(`line ${number}: ${rule}`);
  if (!isUtf8) throw refuse(`the header ${notUtf8Rule}`);
  if (columns === undefined) throw refuse(`the header ${quotesRule}`);
  if (columns.some((column) => column.includes('\r')))
    throw refuse('lines end with a carriage return alone; they must end with LF or CRLF');
  const separator = findOtherSeparator(columns);
  if (separator !== null)
    throw refuse(`the columns are separated by ${separator}; they must be separated by commas`);
  for (const name of knownColumns) {
    const count = columns.filter((column) => column === name).length;
    if (count === 0 && requiredFields.includes(name))
      throw refuse(`the header must have a column "${name}"; separate columns by commas`);
    if (count > 1) throw refuse(`the header has the column "${name}" ${count} times`);
  }
  // Spreadsheets end a header with empty columns.
  const unknown = columns.filter((column) => column !== '' && !knownColumns.includes(column));
  if (unknown.length > 0 && !ignoresUnknown) throw refuse(describeUnknown('column', unknown, knownColumns));
  return columns;
}

/** Returns the name of the separator if the header has semicolons or tabs instead of commas. Otherwise returns null. */
function findOtherSeparator([first = '', ...others]: readonly string[]): string | null {
  if (others.length > 0) return null;
  if (first.includes(';')) return 'semicolons';
  return first.includes('\t') ? 'tabs' : null;
}

function toRow(
  columns: readonly string[],
  { number: line, isUtf8 }: Line,
  fields: readonly string[] | undefined,
  ignoresUnknown: boolean,
): Row {
  if (!isUtf8) return { line, brokenRule: notUtf8Rule };
  if (fields === undefined) return { line, brokenRule: quotesRule };
  if (fields.length !== columns.length)
    return { line, brokenRule: `must have ${columns.length} fields like the header, not ${fields.length}` };
  if (!ignoresUnknown && fields.some((value, index) => value !== '' && columns[index] === ''))
    return { line, brokenRule: unnamedRule };
  const given = knownColumns.flatMap((name) => {
    const value = fields[columns.indexOf(name)];
    return value === undefined || (value === '' && !requiredFields.includes(name))
      ? []
      : [[name, parseValue(name, value)]];
  });
  return { line, candidate: Object.fromEntries(given) };
}

/** An int64 is written as a canonical decimal integer. Another text stays a text, which the rules of the field refuse. */
function parseValue(name: string, value: string): unknown {
  return int64Columns.includes(name) ? (parseCanonicalInt64(value) ?? value) : value;
}

/** Joins the lines of each record, which has several if a quoted field contains a newline. Skips blank lines. */
async function* readRecords(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Line[]> {
  let begun: Line | undefined;
  for await (const lines of readLines(bytes)) {
    const records: Line[] = [];
    for (const line of lines) {
      if (begun === undefined && /^\r?$/.test(line.text)) continue;
      const record = begun === undefined ? line : joinLines(begun, line);
      checkLength(record.number, record.byteLength);
      const isOpen = endsInQuotes(line.text, begun !== undefined);
      if (!isOpen) records.push(record);
      begun = isOpen ? record : undefined;
    }
    yield records;
  }
  if (begun !== undefined) yield [begun];
}

function joinLines(begun: Line, next: Line): Line {
  return {
    number: begun.number,
    text: `${begun.text}\n${next.text}`,
    byteLength: begun.byteLength + 1 + next.byteLength,
    isUtf8: begun.isUtf8 && next.isUtf8,
  };
}

/** Returns true if a quoted field is still open at the end of the line. A broken quote ends the record. */
function endsInQuotes(line: string, beginsInQuotes: boolean): boolean {
  let quoted = beginsInQuotes;
  for (let quote = line.indexOf('"'); quote !== -1; quote = line.indexOf('"', quote + 1)) {
    if (!quoted && quote > 0 && line[quote - 1] !== ',') return false;
    if (quoted && line[quote + 1] === '"') quote += 1;
    else quoted = !quoted;
  }
  return quoted;
}

/** Returns the fields of each record; undefined for broken quotes. Parsing all in one call is faster. */
function parseRecords(records: readonly Line[]): (readonly string[] | undefined)[] {
  const fields = parseText(records.map(({ text }) => `${text}\n`).join(''));
  if (fields?.length === records.length) return fields;
  return records.map(({ number, text }) => {
    const [alone] = parseText(`${text}\n`) ?? [];
    if (alone === undefined && text.includes('\n'))
      throw new OperatorError(
        `line ${number}: a row ${quotesRule}; the start of the next row cannot be found`,
      );
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
