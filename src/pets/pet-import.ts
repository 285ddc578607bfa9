import type { Violation } from '../schema.ts';
import { readCsvRows } from './import-csv.ts';
import { readNdjsonRows } from './import-ndjson.ts';
import type { LoadedPet } from './load-pets.ts';
import { findPatchViolations, findViolations, isIdentifiedPatch, isNewPet } from './pet.ts';

/** The formats of files that animals are read from. */
export const petFileFormats = ['csv', 'ndjson'] as const;

/** One of `petFileFormats`. */
export type PetFileFormat = (typeof petFileFormats)[number];

const readers = { csv: readCsvRows, ndjson: readNdjsonRows };

/**
 * The animals of a file in their order, in batches; one with an `id` changes the animal of that id. Holds one batch at a time, whatever the file's size. A bad row is
 * left out and told to `onBadRow`, with every rule that it breaks and the line in which it begins. Throws OperatorError
 * where the file cannot be read as rows of its format at all.
 */
export async function* readPets(
  bytes: AsyncIterable<Uint8Array>,
  format: PetFileFormat,
  onBadRow: (line: number, violations: readonly Violation[]) => void,
): AsyncGenerator<readonly LoadedPet[]> {
  for await (const rows of readers[format](bytes)) {
    const pets: LoadedPet[] = [];
    for (const row of rows) {
      if ('brokenRule' in row) onBadRow(row.line, [{ field: null, rule: row.brokenRule }]);
      else if (hasId(row.candidate))
        if (isIdentifiedPatch(row.candidate)) pets.push({ ...row.candidate, line: row.line });
        else onBadRow(row.line, findPatchViolations(row.candidate));
      else if (isNewPet(row.candidate)) pets.push(row.candidate);
      else onBadRow(row.line, findViolations(row.candidate));
    }
    yield pets;
  }
}

function hasId(candidate: unknown): candidate is { readonly id: unknown } {
  return typeof candidate === 'object' && candidate !== null && 'id' in candidate;
}
