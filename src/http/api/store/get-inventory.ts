import Type from 'typebox';
import { int64Field } from '../../../schema.ts';
import { after } from '../../../soon.ts';
import { defineOperation } from '../../operation.ts';

const count = (status: string) => int64Field(`How many animals are ${status}.`);

const InventorySchema = Type.Object({
  available: count('available'),
  pending: count('pending'),
  sold: count('sold'),
  asOf: Type.String({
    format: 'date-time',
    maxLength: 24,
    description: 'When the numbers were counted, by the clock of the store.',
  }),
});

const InventoryQuery = Type.Object({
  categoryId: Type.Optional({
    ...int64Field('Only the animals of this category.'),
    examples: [1],
    'x-stability': 'beta',
  }),
});

const example = { available: 120, pending: 3, sold: 57, asOf: '2026-11-24T12:00:00.000Z' };

/** `GET /store/inventory`: counts the animals of each status (contract section 10). */
export const getInventory = defineOperation({
  id: 'getInventory',
  method: 'GET',
  path: '/store/inventory',
  tag: 'store',
  scope: 'pets:read',
  stability: 'beta',
  summary: 'Count animals by status',
  description:
    'Counts the animals of the store, or of one category, by their status. The numbers are exact at `asOf`. The `ETag` depends only on the numbers.',
  query: InventoryQuery,
  answers: {
    200: {
      description: 'The numbers.',
      body: InventorySchema,
      examples: { inventory: { summary: 'An inventory', value: example } },
    },
  },

  handle({ query: { categoryId = null } }, { countInventory }) {
    return after(countInventory(categoryId), ({ asOfMs, ...counts }) => ({
      status: 200,
      body: { ...counts, asOf: new Date(asOfMs).toISOString() },
      validated: Object.values(counts).join(),
    }));
  },
});
