import Type, { type Static } from 'typebox';
import { int64Field, nameField } from '../schema.ts';

/** Maximum number of categories in a store (contract section 11). */
export const categoriesMax = 10_000n;

/** The request body that creates or renames a category. */
export const NewCategorySchema = Type.Object({ name: nameField("The category's name.", 'Dogs') });

/** A category gives a name to a `categoryId` (contract section 11). */
export const CategorySchema = Type.Object({
  id: int64Field('The `categoryId` of its animals.'),
  ...NewCategorySchema.properties,
});

export type Category = Static<typeof CategorySchema>;
