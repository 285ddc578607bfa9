import { stringify } from 'csv-stringify/sync';
import { stringifyExactJson } from '../exact-json.ts';
import type { Pet } from './pet.ts';
import type { PetFileFormat } from './pet-import.ts';

const fields = ['name', 'categoryId', 'status'];

/**
 * The text of a file of animals, a batch at a time, ready to be imported again without the loss of a digit or a
 * character. A name that a spreadsheet would take for a formula is left as it is.
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
