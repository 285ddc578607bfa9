import { keepLiteral, parseExactJson } from '../exact-json.ts';
import type { Violation } from '../violations.ts';
import type { LoadedPet } from './load-pets.ts';
import { newPetRules, petChangeRules, petFields } from './pet.ts';
import { readCsvRows } from './read-csv.ts';
import { describeUnknown, type Line, notUtf8Rule, type Row, readLines } from './read-lines.ts';

/** The file formats of imports and exports. */
export const petFileFormats = ['csv', 'ndjson'] as const;

/** One of `petFileFormats`. */
export type PetFileFormat = (typeof petFileFormats)[number];

const notJsonRule = 'must be a JSON object on one line';

const readers = { csv: readCsvRows, ndjson: readNdjsonRows };
const knownFields = [...petFields, 'id'];

/** A rule that a row breaks, with the invalid value unless the field is missing or the rule is about the whole row. */
export interface BadField extends Violation {
  readonly value?: unknown;
}

/**
 * Reads the rows of a file in order, with one batch in memory at a time. A row with an `id` is a change of that animal.
 * An invalid row is skipped and reported to `onBadRow`, with its first line and every rule that it breaks. An unknown
 * column or field breaks a rule unless `ignoresUnknown` is true. Throws OperatorError if the file as a whole is invalid.
 */
export async function* readPets(
  bytes: AsyncIterable<Uint8Array>,
  format: PetFileFormat,
  onBadRow: (line: number, violations: readonly BadField[]) => void,
  ignoresUnknown = false,
): AsyncGenerator<readonly LoadedPet[]> {
  for await (const rows of readers[format](bytes, ignoresUnknown)) {
    const pets: LoadedPet[] = [];
    for (const row of rows) {
      const { line } = row;
      if ('brokenRule' in row) onBadRow(line, [{ field: null, rule: row.brokenRule }]);
      else if (isChange(row.candidate))
        if (petChangeRules.accepts(row.candidate)) pets.push({ ...row.candidate, line });
        else onBadRow(line, addValues(row, petChangeRules.findViolations(row.candidate)));
      else if (newPetRules.accepts(row.candidate)) pets.push(row.candidate);
      else onBadRow(line, addValues(row, newPetRules.findViolations(row.candidate)));
    }
    yield pets;
  }
}

function isChange(candidate: unknown): boolean {
  return typeof candidate === 'object' && candidate !== null && 'id' in candidate;
}

/** Adds the values as the file has them: `1e400`, which JSON.parse reads as Infinity, stays `1e400`. */
function addValues(
  { candidate, json }: Exclude<Row, { readonly brokenRule: string }>,
  violations: readonly Violation[],
): readonly BadField[] {
  const shown = json === undefined ? candidate : parseExactJson(json, keepLiteral);
  if (typeof shown !== 'object' || shown === null) return violations;
  const values = new Map(Object.entries(shown));
  return violations.map((violation) => {
    const { field } = violation;
    return field !== null && values.has(field) ? { ...violation, value: values.get(field) } : violation;
  });
}

/** Reads the rows of newline-delimited JSON, one row per line. Skips blank lines. */
async function* readNdjsonRows(
  bytes: AsyncIterable<Uint8Array>,
  ignoresUnknown: boolean,
): AsyncGenerator<readonly Row[]> {
  for await (const lines of readLines(bytes))
    yield lines.filter(({ text }) => text.trim() !== '').map((line) => toRow(line, ignoresUnknown));
}

function toRow({ number, text, isUtf8 }: Line, ignoresUnknown: boolean): Row {
  if (!isUtf8) return { line: number, brokenRule: notUtf8Rule };
  try {
    const candidate = parseExactJson(text);
    const unknown = ignoresUnknown ? [] : listUnknown(candidate);
    if (unknown.length > 0)
      return { line: number, brokenRule: describeUnknown('field', unknown, knownFields) };
    return { line: number, candidate, json: text };
  } catch (error) {
    return { line: number, brokenRule: error instanceof RangeError ? error.message : notJsonRule };
  }
}

function listUnknown(candidate: unknown): readonly string[] {
  if (typeof candidate !== 'object' || candidate === null || Array.isArray(candidate)) return [];
  return Object.keys(candidate).filter((field) => !knownFields.includes(field));
}
