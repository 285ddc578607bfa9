import Type from 'typebox';
import { PetStatusSchema } from '../../../../pets/pet.ts';
import { searchPets } from '../../../../pets/pet-search.ts';
import { defineConsoleOperation } from '../../operation.ts';
import { beforeField, int64Filter, pageRows, textFilter } from '../fields.ts';
import { nameCategories } from './name-categories.ts';

/** Returns a page of animals. The filter `name` matches any part of a name. */
export const listPets = defineConsoleOperation({
  method: 'GET',
  path: '/pets',
  query: Type.Object({
    status: Type.Optional(PetStatusSchema),
    categoryId: int64Filter,
    name: textFilter,
    before: beforeField,
  }),

  async handle({ query: { status = null, categoryId = null, name, before = null } }, services) {
    const { catalogue, database } = services;
    const filter = { limit: pageRows, status, categoryId, newestId: before };
    if (name !== undefined) {
      const { pets, searched, nextNewestId } = await searchPets(database, name, filter);
      return { items: await nameCategories(services, pets), next: nextNewestId, searched };
    }
    const { pets, nextNewestId } = await catalogue.list(filter);
    return { items: await nameCategories(services, pets), next: nextNewestId, searched: null };
  },
});
