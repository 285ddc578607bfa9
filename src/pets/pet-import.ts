import type { Violation } from '../schema.ts';
import { readCsvRows } from './import-csv.ts';
import { readNdjsonRows } from './import-ndjson.ts';
import type { LoadedPet } from './load-pets.ts';
import { findPatchViolations, findViolations, isIdentifiedPatch, isNewPet } from './pet.ts';

/** The file formats of imports and exports. */
export const petFileFormats = ['csv', 'ndjson'] as const;

/** One of `petFileFormats`. */
export type PetFileFormat = (typeof petFileFormats)[number];

const readers = { csv: readCsvRows, ndjson: readNdjsonRows };

/**
 * A rule that a row breaks. `value` is the invalid value. It is absent if the field is missing or the rule is about the
 * whole row.
 */
export interface BadField extends Violation {
  readonly value?: unknown;
}

/**
 * Reads the rows of a file in order, with one batch in memory at a time. A row with an `id` is a change of that animal.
 * An invalid row is skipped and reported to `onBadRow`, with its first line and every rule that it breaks. Throws
 * OperatorError if the file as a whole is invalid, such as a CSV file without a header.
 */
export async function* readPets(
  bytes: AsyncIterable<Uint8Array>,
  format: PetFileFormat,
  onBadRow: (line: number, violations: readonly BadField[]) => void,
): AsyncGenerator<readonly LoadedPet[]> {
  for await (const rows of readers[format](bytes)) {
    const pets: LoadedPet[] = [];
    for (const row of rows) {
      if ('brokenRule' in row) onBadRow(row.line, [{ field: null, rule: row.brokenRule }]);
      else if (hasId(row.candidate))
        if (isIdentifiedPatch(row.candidate)) pets.push({ ...row.candidate, line: row.line });
        else onBadRow(row.line, addValues(row.candidate, findPatchViolations(row.candidate)));
      else if (isNewPet(row.candidate)) pets.push(row.candidate);
      else onBadRow(row.line, addValues(row.candidate, findViolations(row.candidate)));
    }
    yield pets;
  }
}

function hasId(candidate: unknown): candidate is { readonly id: unknown } {
  return typeof candidate === 'object' && candidate !== null && 'id' in candidate;
}

function addValues(candidate: unknown, violations: readonly Violation[]): readonly BadField[] {
  if (typeof candidate !== 'object' || candidate === null) return violations;
  const values = new Map(Object.entries(candidate));
  return violations.map((violation) => {
    const { field } = violation;
    return field !== null && values.has(field) ? { ...violation, value: values.get(field) } : violation;
  });
}
