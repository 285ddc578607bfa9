import Type from 'typebox';
import { AppError } from '../../../errors.ts';
import { computeEtag } from '../../../etag.ts';
import { readOrderTime } from '../../../orders/order-rows.ts';
import { everyAccount } from '../../../orders/orders.ts';
import {
  type NewPet,
  NewPetSchema,
  type Pet,
  type PetPatch,
  PetPatchSchema,
  PetStatusSchema,
  petInputs,
  pickPetFields,
  writePet,
} from '../../../pets/pet.ts';
import { defineConsoleOperation } from '../operation.ts';
import type { ConsoleServices } from '../services.ts';
import { beforeField, int64Filter, int64Text, pageRows, readId, readInt64 } from './fields.ts';

const ordersShown = 10;

/** Returns a page of animals, with the inputs of the form that adds one. */
const listPets = defineConsoleOperation({
  method: 'GET',
  path: '/pets',
  query: Type.Object({
    status: Type.Optional(PetStatusSchema),
    categoryId: int64Filter,
    before: beforeField,
  }),

  async handle({ query: { status = null, categoryId = null, before = null } }, services) {
    const filter = { limit: pageRows, status, categoryId, newestId: before };
    const { items, next } = await services.catalogue.list(filter);
    return { items: await nameCategories(services, items), next, inputs: petInputs };
  },
});

/** Returns an animal with its entity tag, the inputs of its form and its newest orders. */
const showPet = defineConsoleOperation({
  method: 'GET',
  path: '/pets/{petId}',

  async handle({ params }, services) {
    const id = readId(params['petId'], 'animal');
    const found = await services.catalogue.get(id);
    if (found === null) throw new AppError('not_found', 'there is no animal with this identifier');
    const filter = { limit: ordersShown, status: null, petId: id, reference: null, newestId: null };
    const [page, nowMs, pets] = await Promise.all([
      services.orders.list(filter, everyAccount),
      readOrderTime(services.database),
      nameCategories(services, [found]),
    ]);
    const tag = computeEtag(writePet(found));
    return { pet: pets[0], tag, inputs: petInputs, orders: page.items, nowMs };
  },
});

/** Adds the name of its category to each animal. `category` is null if the category has no name. */
async function nameCategories({ categories }: ConsoleServices, pets: readonly Pet[]) {
  const ids = new Set(pets.map(({ categoryId }) => categoryId));
  const found = await categories.find([...ids]);
  const names = new Map(found.map(({ id, name }) => [id, name]));
  return pets.map((pet) => ({ ...pet, category: names.get(pet.categoryId) ?? null }));
}

/** The fields of a new animal, and those of a change. An int64 is a text. */
const newFields = Object.fromEntries(
  petInputs.map(({ field, isInt64 }) => [field, isInt64 ? int64Text() : NewPetSchema.properties[field]]),
);
const changedFields = Object.fromEntries(
  petInputs.map(({ field, isInt64 }) => [
    field,
    isInt64 ? Type.Optional(int64Text()) : PetPatchSchema.properties[field],
  ]),
);

/** Returns the fields of a form as fields of an animal. */
function readPetFields(body: unknown): PetPatch {
  const given = body as Readonly<Record<string, string | undefined>>;
  const values = petInputs.map(({ field, isInt64 }) => {
    const text = given[field];
    return [field, isInt64 && text !== undefined ? readInt64(text, field) : text];
  });
  return pickPetFields(Object.fromEntries(values));
}

const addPet = defineConsoleOperation({
  method: 'POST',
  path: '/pets',
  body: Type.Object(newFields),
  handle: ({ body, changes }) => changes.addPet(readPetFields(body) as NewPet),
});

/**
 * Changes an animal. `tag` is the entity tag that the page has loaded. If the animal has changed since, the request is
 * refused.
 */
const changePet = defineConsoleOperation({
  method: 'PATCH',
  path: '/pets/{petId}',
  body: Type.Object({ tag: Type.String({ minLength: 1, maxLength: 100 }), ...changedFields }),
  handle: async ({ params, body, changes }) =>
    changes.changePet(readId(params['petId'], 'animal'), readPetFields(body), [body.tag]),
});

/** Deletes an animal. The request is refused if an order owns the animal. */
const deletePet = defineConsoleOperation({
  method: 'DELETE',
  path: '/pets/{petId}',
  handle: async ({ params, changes }) => changes.deletePet(readId(params['petId'], 'animal')),
});

export const petOperations = [listPets, showPet, addPet, changePet, deletePet];
