import Type from 'typebox';
import { PetSchema, PetStatusSchema } from '../../../pets/pet.ts';
import { int64Field } from '../../../schema.ts';
import { defineOperation } from '../../operation.ts';
import { cursorField, limitField, limitMax, openPage } from '../paging.ts';
import { elodie, rex } from './examples.ts';

const idsMax = 100;

const ListPetsQuery = Type.Object({
  limit: limitField('animals'),
  status: Type.Optional({ ...PetStatusSchema, examples: ['available'] }),
  categoryId: Type.Optional({
    ...int64Field('Filter by category, a plain decimal integer.'),
    examples: [3],
    'x-stability': 'beta',
  }),
  id: Type.Optional(
    Type.Array(int64Field('Identifier of an animal.'), {
      minItems: 1,
      maxItems: idsMax,
      rule: `must be 1 to ${idsMax} decimal integers, separated by commas`,
      description: 'Only the animals with these identifiers. Unknown identifiers are ignored.',
      examples: [[42, 41]],
      'x-stability': 'beta',
    }),
  ),
  cursor: { ...cursorField('AwAAAAAAAAAqrK1CcODeb8rGtA'), 'x-stability': 'beta' },
});

/** `GET /pets`: returns a page of animals (interface section 4.1, contract sections 3 and 10). */
export const listPets = defineOperation({
  id: 'listPets',
  method: 'GET',
  path: '/pets',
  scope: 'pets:read',
  stability: 'stable',
  summary: 'List animals',
  description:
    'Returns a paginated list of animals, newest first; `status`, `categoryId` and `id` may be combined. Follow the `Link` with `rel="next"` until there is none: every animal that existed at the start is returned exactly once. HEAD returns the headers only.',
  query: ListPetsQuery,
  answers: {
    200: {
      description: 'A page of animals.',
      body: Type.Array(PetSchema, { maxItems: limitMax }),
      headers: ['Link'],
      examples: {
        page: { summary: 'Two animals', value: [rex, elodie] },
        empty: { summary: 'No animal', value: [] },
      },
    },
  },
  isCached: true,

  async handle({ query }, services) {
    const { status, categoryId } = query;
    const ids = query.id === undefined ? null : [...new Set(query.id)].sort(descending);
    const filters = { status, categoryId, id: ids ?? undefined };
    const { limit, start: newestId, linkTo } = openPage({ path: '/pets', filters }, query, services);
    const { pets, nextNewestId } = await services.catalogue.list({
      limit,
      status: status ?? null,
      categoryId: categoryId ?? null,
      ids,
      newestId,
    });
    return { status: 200, body: pets, headers: linkTo(nextNewestId) };
  },
});

function descending(one: bigint, other: bigint): number {
  return one < other ? 1 : -1;
}
