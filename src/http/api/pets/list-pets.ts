import Type from 'typebox';
import { AppError } from '../../../errors.ts';
import { PetSchema, PetStatusSchema } from '../../../pets/pet.ts';
import { after } from '../../../soon.ts';
import { defineOperation } from '../../operation.ts';
import { elodie, rex } from './examples.ts';

const defaultLimit = 20;
const limitMax = 100;
const cursorRule = 'must be one that a page with the same status gave in its Link';

const ListPetsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitMax,
      default: defaultLimit,
      description: 'Maximum number of animals returned.',
      examples: [20],
    }),
  ),
  status: Type.Optional({ ...PetStatusSchema, examples: ['available'] }),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z0-9_-]+$',
      rule: cursorRule,
      description: 'Where the page begins: copied from the `Link` of the page before.',
      examples: ['AwAAAAAAAAAqrK1CcODeb8rGtA'],
      'x-stability': 'beta',
    }),
  ),
});

/** Interface section 4.1, contract section 3. */
export const listPets = defineOperation({
  id: 'listPets',
  method: 'GET',
  path: '/pets',
  tag: 'pets',
  scope: 'pets:read',
  stability: 'stable',
  summary: 'List animals',
  description:
    'Returns a paginated list of animals, newest first. Follow the `Link` with `rel="next"` until there is none: the walk meets each animal that was there at its start exactly once. HEAD answers with the headers alone.',
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

  handle({ query: { limit = defaultLimit, status, cursor } }, { catalogue, cursors, baseUrl }) {
    const list = status === undefined ? '/pets' : `/pets?status=${status}`;
    const newestId = cursor === undefined ? null : cursors.read(cursor, list);
    if (cursor !== undefined && newestId === null)
      throw new AppError('invalid_parameter', `cursor ${cursorRule}`);
    const page = catalogue.list({ limit, status: status ?? null, newestId });
    return after(page, ({ pets, nextNewestId }) => {
      const dependsOn = { newestId, oldestId: nextNewestId, status };
      if (nextNewestId === null) return { status: 200, body: pets, dependsOn };
      const next = cursors.write(list, nextNewestId);
      const filter = status === undefined ? '' : `&status=${status}`;
      const link = `<${baseUrl}/pets?limit=${limit}${filter}&cursor=${next}>; rel="next"`;
      return { status: 200, body: pets, headers: { link }, dependsOn };
    });
  },
});
