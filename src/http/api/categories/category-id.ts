import Type from 'typebox';
import { AppError } from '../../../errors.ts';
import { parseCanonicalInt64 } from '../../../int64.ts';
import { int64Field } from '../../../schema.ts';

export const dogs = { id: 3, name: 'Dogs' };
export const cats = { id: 4, name: 'Cats' };

export const CategoryParams = Type.Object({
  categoryId: { ...int64Field('The `categoryId` of its animals.'), examples: [3] },
});

/**
 * Returns the category id in the path. Throws `not_found` if it is not a canonical int64, because no category can have
 * such an id.
 */
export function readCategoryId({ categoryId = '' }: Readonly<Record<string, string | undefined>>): bigint {
  const id = parseCanonicalInt64(categoryId);
  if (id === null) throw new AppError('not_found', 'categoryId: there is no category with this identifier');
  return id;
}
