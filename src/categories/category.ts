import Type, { type Static } from 'typebox';
import { int64Field, nameField } from '../schema.ts';

/** The most categories of a store (contract section 11). */
export const categoriesMax = 10_000n;

/** The body that creates or renames a category. */
export const NewCategorySchema = Type.Object({ name: nameField("The category's name.", 'Dogs') });

/** The name of a `categoryId` of animals (contract section 11). */
export const CategorySchema = Type.Object({
  id: int64Field('The `categoryId` of its animals.'),
  ...NewCategorySchema.properties,
});

/** A stored category. */
export type Category = Static<typeof CategorySchema>;
