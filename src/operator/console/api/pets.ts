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
  PetStatusSchema,
  petInputs,
  pickPetFields,
  writePet,
} from '../../../pets/pet.ts';
import { type ConsoleServices, operation } from '../operation.ts';
import { int64Filter, int64Text, pageRows, readId, readInt64 } from './fields.ts';

const ordersShown = 10;
const path = '/pets/{petId}';
const filters = {
  status: Type.Optional(PetStatusSchema),
  categoryId: int64Filter,
  before: int64Filter,
};

/** Adds the name of its category to each animal. `category` is null if the category has no name. */
async function nameCategories({ categories }: ConsoleServices, pets: readonly Pet[]) {
  const ids = new Set(pets.map(({ categoryId }) => categoryId));
  const found = await categories.find([...ids]);
  const names = new Map(found.map(({ id, name }) => [id, name]));
  return pets.map((pet) => ({ ...pet, category: names.get(pet.categoryId) ?? null }));
}

/** The fields of a form. An int64 is a text. */
const formFields = Object.fromEntries(
  petInputs.map(({ field, isInt64 }) => [field, isInt64 ? int64Text : NewPetSchema.properties[field]]),
);
const changeFields = {
  tag: Type.String({ minLength: 1, maxLength: 100 }),
  ...Type.Partial(Type.Object(formFields)).properties,
};

/** Returns the fields of a form as fields of an animal. */
function readPetFields(body: unknown): PetPatch {
  const given = body as Readonly<Record<string, string | undefined>>;
  const values = petInputs.map(({ field, isInt64 }) => {
    const text = given[field];
    return [field, isInt64 && text !== undefined ? readInt64(text, field) : text];
  });
  return pickPetFields(Object.fromEntries(values));
}

export const petOperations = [
  /** Returns a page of animals, with the inputs of the form that adds one. */
  operation('GET /pets', filters, async (query, context) => {
    const { status = null, categoryId = null, before = null } = query;
    const filter = { limit: pageRows, status, categoryId, newestId: before };
    const { items, next } = await context.catalogue.list(filter);
    return { items: await nameCategories(context, items), next, inputs: petInputs };
  }),

  /** Returns an animal with its entity tag, the inputs of its form and its newest orders. */
  operation(`GET ${path}`, {}, async ({ petId: text }, context) => {
    const petId = readId(text, 'animal');
    const found = await context.catalogue.get(petId);
    if (found === null) throw new AppError('not_found', 'there is no animal with this identifier');
    const filter = { limit: ordersShown, status: null, petId, reference: null, newestId: null };
    const [page, nowMs, pets] = await Promise.all([
      context.orders.list(filter, everyAccount),
      readOrderTime(context.database),
      nameCategories(context, [found]),
    ]);
    const tag = computeEtag(writePet(found));
    return { pet: pets[0], tag, inputs: petInputs, orders: page.items, nowMs };
  }),

  operation('POST /pets', formFields, (body, { changes }) => changes.addPet(readPetFields(body) as NewPet)),

  /**
   * Changes an animal. `tag` is the entity tag that the page has loaded. If the animal has changed since, the request is
   * refused.
   */
  operation(`PATCH ${path}`, changeFields, async (body, { changes }) =>
    changes.changePet(readId(body.petId, 'animal'), readPetFields(body), [body.tag]),
  ),

  /** Deletes an animal. The request is refused if an order owns the animal. */
  operation(`DELETE ${path}`, {}, async ({ petId }, { changes }) =>
    changes.deletePet(readId(petId, 'animal')),
  ),
];
