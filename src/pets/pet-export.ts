import { stringify } from 'csv-stringify/sync';
import { stringifyExactJson } from '../exact-json.ts';
import type { Pet } from './pet.ts';
import type { PetFileFormat } from './pet-import.ts';

const fields = ['name', 'categoryId', 'status'];

/**
 * Yields the text of an export file, one string per batch. Values are written exactly, so that an import reads the same
 * values. A name that a spreadsheet would treat as a formula is not escaped.
 */
export async function* writePets(
  batches: AsyncIterable<readonly Pet[]>,
  format: PetFileFormat,
  withoutIds = false,
): AsyncGenerator<string> {
  const columns = withoutIds ? fields : ['id', ...fields];
  if (format === 'csv') yield stringify([columns]);
  for await (const pets of batches)
    yield format === 'csv'
      ? stringify([...pets], { columns })
      : pets.map(({ id, ...pet }) => `${stringifyExactJson(withoutIds ? pet : { id, ...pet })}\n`).join('');
}
