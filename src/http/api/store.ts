import Type from 'typebox';
import { type PetStatus, petStatuses } from '../../pets/pet.ts';
import { countField, int64Field, namedObject, timeField } from '../../schema.ts';
import { defineOperation, type Operation } from '../operation.ts';

const counts = Object.fromEntries(
  petStatuses.map((status) => [status, countField(`How many animals are ${status}.`)]),
) as Record<PetStatus, ReturnType<typeof countField>>;

/** The inventory, as responses show it. */
export const InventorySchema = namedObject('Inventory', 'How many animals are in stock.', {
  ...counts,
  asOf: timeField('When the numbers were counted, by the clock of the store.'),
});

const getInventory = defineOperation({
  id: 'getInventory',
  method: 'GET',
  path: '/store/inventory',
  scope: 'pets:read',
  summary: 'Count animals by status',
  description:
    'Counts the animals of the store, or of one category, by their status. The numbers are exact at `asOf`. The `ETag` depends only on the numbers.',
  query: Type.Object({
    categoryId: Type.Optional({
      ...int64Field('Only the animals of this category.'),
      examples: [1],
      'x-stability': 'beta',
    }),
  }),
  answers: {
    200: {
      description: 'The numbers.',
      body: InventorySchema,
      examples: {
        inventory: {
          summary: 'An inventory',
          value: { available: 120, pending: 3, sold: 57, asOf: '2026-11-24T12:00:00.000Z' },
        },
      },
    },
  },

  async handle({ query: { categoryId = null } }, { countInventory }) {
    const { asOfMs, ...numbers } = await countInventory(categoryId);
    return {
      status: 200,
      body: { ...numbers, asOf: new Date(asOfMs).toISOString() },
      validated: Object.values(numbers).join(),
    };
  },
});

/** The operations on the inventory. */
export const storeOperations: readonly Operation[] = [getInventory];
