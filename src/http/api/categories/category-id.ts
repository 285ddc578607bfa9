import Type from 'typebox';
import { AppError } from '../../../errors.ts';
import { parseCanonicalInt64 } from '../../../int64.ts';
import { int64Field } from '../../../schema.ts';

/** The categories that examples show. */
export const dogs = { id: 3, name: 'Dogs' };
export const cats = { id: 4, name: 'Cats' };

/** The parameters of the address of one category. */
export const CategoryParams = Type.Object({
  categoryId: { ...int64Field('The `categoryId` of its animals.'), examples: [3] },
});

/** The number in the address of a category. Throws `not_found` for what is no canonical int64: it names none. */
export function readCategoryId({ categoryId = '' }: Readonly<Record<string, string | undefined>>): bigint {
  const id = parseCanonicalInt64(categoryId);
  if (id === null) throw new AppError('not_found', 'categoryId: there is no category with this identifier');
  return id;
}
