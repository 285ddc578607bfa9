import Type, { type Static } from 'typebox';
import { int64Field, nameField } from '../schema.ts';

/** The most categories that a store has (contract section 11). */
export const categoriesMax = 10_000n;

/** What a category is given. */
export const NewCategorySchema = Type.Object({ name: nameField("The category's name.", 'Dogs') });

/** A label for a number that animals may bear (contract section 11). */
export const CategorySchema = Type.Object({
  id: int64Field('The `categoryId` of its animals.'),
  ...NewCategorySchema.properties,
});

/** A category as it is stored. */
export type Category = Static<typeof CategorySchema>;
