import type { Static } from 'typebox';
import { int64Field, namedObject, nameField } from '../schema.ts';

/** Maximum number of categories in a store (contract section 11). */
export const categoriesMax = 10_000n;

/** The request body that creates or renames a category. */
export const NewCategorySchema = namedObject('NewCategory', 'The name of a category.', {
  name: nameField("The category's name.", 'Dogs'),
});

/** A category gives a name to a `categoryId` (contract section 11). */
export const CategorySchema = namedObject(
  'Category',
  'A name for a number that animals have as `categoryId`.',
  {
    id: int64Field('The `categoryId` of its animals.'),
    ...NewCategorySchema.properties,
  },
);

export type Category = Static<typeof CategorySchema>;
