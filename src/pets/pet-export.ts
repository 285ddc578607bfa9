import { stringify } from 'csv-stringify/sync';
import { stringifyExactJson } from '../exact-json.ts';
import type { Pet } from './pet.ts';
import type { PetFileFormat } from './pet-import.ts';

const fields = ['name', 'categoryId', 'status'];

/**
 * Writes animals as the text of a file, one text for each batch. An import of the file loses no digit and no character.
 * Names that a spreadsheet would read as formulas are not changed.
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
