import Type from 'typebox';
import { NewCategorySchema } from '../../../categories/categories.ts';
import { AppError } from '../../../errors.ts';
import { computeEtag } from '../../../etag.ts';
import { OrderSchema, OrderStatusSchema } from '../../../orders/order.ts';
import { everyAccount, getWithPet } from '../../../orders/orders.ts';
import { NewPetSchema, type Pet, PetPatchSchema, PetSchema, PetStatusSchema } from '../../../pets/pet.ts';
import { pickPetFields, writePet } from '../../../pets/pet-values.ts';
import { readStoreTime } from '../../../storage/store-facts.ts';
import { answers } from '../answers.ts';
import { type ConsoleServices, int64Filter, operation, pageRows, textFilter } from '../operation.ts';

const ordersShown = 10;
const petFilters = { status: Type.Optional(PetStatusSchema), categoryId: int64Filter, before: int64Filter };
const changeFields = {
  tag: Type.String({ minLength: 1, maxLength: 100 }),
  ...PetPatchSchema.properties,
};
const orderFilters = {
  status: Type.Optional(OrderStatusSchema),
  petId: int64Filter,
  reference: textFilter,
  account: textFilter,
  before: int64Filter,
};

/** Returns a function that adds the name of its category to one of these animals. Null: the category has no name. */
async function nameCategories({ categories }: ConsoleServices, pets: readonly Pet[]) {
  const ids = new Set(pets.map(({ categoryId }) => categoryId));
  const found = await categories.find([...ids]);
  const names = new Map(found.map(({ id, name }) => [id, name]));
  return (pet: Pet) => ({ ...pet, category: names.get(pet.categoryId) ?? null });
}

export const animalOperations = [
  operation(
    'listPets',
    'GET /pets',
    'reader',
    { summary: 'List the animals', fields: petFilters, answer: answers.pets },
    async (query, context) => {
      const { status = null, categoryId = null, before = null } = query;
      const filter = { limit: pageRows, status, categoryId, newestId: before };
      const { items, next } = await context.catalogue.list(filter);
      const withCategory = await nameCategories(context, items);
      return { items: items.map(withCategory), next };
    },
  ),

  operation(
    'getPet',
    'GET /pets/{petId}',
    'reader',
    {
      summary: 'Show an animal and its last orders',
      answer: answers.pet,
    },
    async ({ petId }, context) => {
      const found = await context.catalogue.get(petId);
      if (found === null) throw new AppError('not_found', 'there is no animal with this identifier');
      const filter = { limit: ordersShown, status: null, petId, reference: null, newestId: null };
      const [page, nowMs, withCategory] = await Promise.all([
        context.orders.list(filter, everyAccount),
        readStoreTime(context.database),
        nameCategories(context, [found]),
      ]);
      const tag = computeEtag(writePet(found));
      return { pet: withCategory(found), tag, orders: page.items, nowMs };
    },
  ),

  operation(
    'addPet',
    'POST /pets',
    'admin',
    { summary: 'Add an animal', fields: NewPetSchema.properties, answer: PetSchema },
    (body, { addPet }) => addPet(body),
  ),

  operation(
    'changePet',
    'PATCH /pets/{petId}',
    'support',
    { summary: 'Change an animal', fields: changeFields, answer: PetSchema },
    ({ petId, tag, ...body }, { changePet }) => changePet(petId, pickPetFields(body), [tag]),
  ),

  operation(
    'deletePet',
    'DELETE /pets/{petId}',
    'admin',
    { summary: 'Delete an animal' },
    ({ petId }, { deletePet }) => deletePet(petId),
  ),

  /** Returns a page of the categories, in ascending order of the ids. `before` is the first id of the page. */
  operation(
    'listCategories',
    'GET /categories',
    'reader',
    { summary: 'List the categories', fields: { before: int64Filter }, answer: answers.categories },
    ({ before = null }, { categories }) => categories.list(pageRows, before),
  ),

  operation(
    'putCategory',
    'PUT /categories/{categoryId}',
    'admin',
    { summary: 'Name a category', fields: NewCategorySchema.properties, answer: answers.category },
    async (body, { putCategory }) => {
      const category = { id: body.categoryId, name: body.name };
      return { ...category, ...(await putCategory(category)) };
    },
  ),

  /** Deletes the name of a category. Animals keep their `categoryId`. */
  operation(
    'deleteCategory',
    'DELETE /categories/{categoryId}',
    'admin',
    { summary: 'Delete the name of a category' },
    ({ categoryId }, { deleteCategory }) => deleteCategory(categoryId),
  ),

  /** Returns a page of orders of one or all accounts. By `nowMs`, the page shows which holds have expired. */
  operation(
    'listOrders',
    'GET /orders',
    'reader',
    { summary: 'List the orders of all accounts', fields: orderFilters, answer: answers.orders },
    async (query, { accounts, orders, database }) => {
      const { status = null, petId = null, reference = null, account, before = null } = query;
      const ofAccount = account === undefined ? null : await accounts.findId(account);
      const filter = { limit: pageRows, status, petId, reference, ofAccount, newestId: before };
      const [page, nowMs] = await Promise.all([orders.list(filter, everyAccount), readStoreTime(database)]);
      return { ...page, nowMs };
    },
  ),

  /** Returns an order with its animal, null if that is deleted. */
  operation(
    'getOrder',
    'GET /orders/{orderId}',
    'reader',
    { summary: 'Show an order with its animal', answer: answers.order },
    async ({ orderId }, context) => {
      const found = await getWithPet(context, orderId);
      const pets = found.pet === null ? [] : [found.pet];
      const [nowMs, withCategory] = await Promise.all([
        readStoreTime(context.database),
        nameCategories(context, pets),
      ]);
      return { ...found, pet: found.pet && withCategory(found.pet), nowMs };
    },
  ),

  operation(
    'cancelOrder',
    'POST /orders/{orderId}/cancel',
    'support',
    { summary: 'Cancel an order', answer: OrderSchema },
    ({ orderId }, { closeOrder }) => closeOrder('cancel', orderId),
  ),
  operation(
    'returnOrder',
    'POST /orders/{orderId}/return',
    'admin',
    { summary: 'Return an order', answer: OrderSchema },
    ({ orderId }, { closeOrder }) => closeOrder('return', orderId),
  ),
];
