import Type from 'typebox';
import { InventorySchema } from '../../inventory/inventory.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { answer, betaInt64, example } from './parts.ts';

const counted = { available: 120, pending: 3, sold: 57, asOf: '2026-11-24T12:00:00.000Z' };

export const storeOperations: readonly Operation[] = [
  defineOperation('getInventory', 'GET /store/inventory', 'pets:read', {
    guide: 'getting-started',
    summary: 'Count animals by status',
    description:
      'Counts the animals of the store, or of one category, by their status. The numbers are exact at `asOf`. The `ETag` depends only on the numbers.',
    query: Type.Object({ categoryId: betaInt64('Only the animals of this category.', 1) }),
    answers: answer(200, 'The numbers.', InventorySchema, {
      inventory: example('An inventory', counted),
    }),

    async handle({ query: { categoryId = null } }, { countInventory }) {
      const { asOfMs, ...numbers } = await countInventory(categoryId);
      const body = { ...numbers, asOf: new Date(asOfMs).toISOString() };
      return { status: 200, body, validated: Object.values(numbers).join() };
    },
  }),
];
