import Type from 'typebox';
import { AppError } from '../../errors.ts';
import { computeEtag } from '../../etag.ts';
import { editMessages } from '../../pets/catalogue.ts';
import {
  examplePet,
  NewPetSchema,
  PetPatchSchema,
  PetSchema,
  PetStatusSchema,
  removablePetFields,
} from '../../pets/pet.ts';
import { type IfMatch, writePet } from '../../pets/pet-values.ts';
import { int64Field } from '../../schema.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { jsonTypes } from '../request/body.ts';
import { changeIfMatch } from '../request/conditions.ts';
import { answer, betaInt64, defineIdParameter, definePages, example, openPage, toOutcome } from './parts.ts';

export const rex = { id: 42, ...examplePet };
const elodie = { ...rex, id: 41, name: 'Élodie', categoryId: 2, status: 'sold' };
const added = { added: example('The new animal', rex) };
const changed = { changed: example('The changed animal', { ...rex, status: 'sold' }) };
const { required } = NewPetSchema;
const leastRex = Object.fromEntries(
  Object.entries(examplePet).filter(([field]) => (required as string[]).includes(field)),
);

const petId = defineIdParameter('petId', 'animal', rex.id);

const nullRule =
  removablePetFields.length === 0
    ? '`null` is refused, because no field can be removed.'
    : `\`null\` removes ${removablePetFields.map((field) => `\`${field}\``).join(' or ')}, and is refused for every other field.`;

const idsMax = 100;

/** Unix time in ms from which `getPet` is removed and answers 410. */
export const getPetRemovedAtMs = Date.UTC(2030, 11, 5);

export const petOperations: readonly Operation[] = [
  defineOperation('listPets', 'GET /pets', 'pets:read', {
    stability: 'stable',
    guide: 'pages',
    summary: 'List animals',
    description:
      'Returns a paginated list of animals, newest first; `status`, `categoryId` and `id` may be combined, and `id=42&id=41` means `id=42,41`. Follow the `Link` with `rel="next"` until there is none: every animal that existed at the start is returned exactly once. HEAD returns the headers only.',
    ...definePages('animals', {
      item: PetSchema,
      filters: {
        status: Type.Optional({ ...PetStatusSchema, examples: ['available'] }),
        categoryId: betaInt64('Filter by category, a plain decimal integer.', 3),
        id: Type.Optional(
          Type.Array(int64Field('Identifier of an animal.'), {
            minItems: 1,
            maxItems: idsMax,
            rule: `must be 1 to ${idsMax} decimal integers, separated by commas`,
            repeats: true,
            description: 'Only the animals with these identifiers. Unknown identifiers are ignored.',
            examples: [[42, 41]],
            'x-stability': 'beta',
          }),
        ),
      },
      cursor: 'AwAAAAAAAAAqrK1CcODeb8rGtA',
      hasBetaCursor: true,
      examples: { page: example('Two animals', [rex, elodie]), empty: example('No animal', []) },
    }),
    isCached: true,

    async handle({ query }, services) {
      const { status = null, categoryId = null } = query;
      const ids = query.id === undefined ? null : [...BigInt64Array.from(new Set(query.id)).sort().reverse()];
      const filters = { status, categoryId, id: ids };
      const page = openPage({ path: '/pets', filters }, query, services);
      const wanted = { limit: page.limit, status, categoryId, ids, newestId: page.start };
      const { items, next } = await services.catalogue.list(wanted);
      return { status: 200, body: items, headers: page.linkTo(next) };
    },
  }),

  defineOperation('createPet', 'POST /pets', 'pets:write', {
    stability: 'stable',
    guide: 'idempotency',
    summary: 'Add an animal',
    description:
      'Adds an animal and returns it with its new `id`. The animal is on disk before the response is sent. The default `status` is `available`. Unknown fields are ignored. With an `Idempotency-Key` a retry never adds twice.',
    body: NewPetSchema,
    bodyExamples: {
      complete: example('All fields', examplePet),
      least: example('Required fields', leastRex),
    },
    isIdempotent: true,
    answers: answer(201, 'The animal is added; the response has its `id`.', PetSchema, added, [
      'Location',
      'ETag',
    ]),

    async handle({ body, idempotency, caller }, { catalogue, baseUrl, clock }) {
      const locationStart = clock() < getPetRemovedAtMs ? '/pets/' : '/pets?id=';
      if (idempotency !== null)
        return toOutcome(await catalogue.addOnce(body, idempotency, locationStart), baseUrl);
      const pet = await catalogue.add(body, caller.accountId);
      const text = writePet(pet);
      const location = `${baseUrl}${locationStart}${pet.id}`;
      return { status: 201, text, headers: { location, etag: computeEtag(text) } };
    },
  }),

  defineOperation('getPet', 'GET /pets/{petId}', 'pets:read', {
    stability: 'stable',
    guide: 'deprecations',
    summary: 'Get an animal',
    description:
      'Returns one animal. Deprecated: it is removed on 5 December 2030 and answers 410 from then on. Use `GET /pets` with the `status` filter instead or, for one animal, the `id` filter. An identifier that is not a canonical decimal int64 is not found. HEAD returns the headers only.',
    // Interface section 4.3 gives only the date of the removal. docs/decisions/http.md explains the choice of `sinceMs`.
    deprecation: { sinceMs: Date.UTC(2025, 11, 5), removedAtMs: getPetRemovedAtMs, successor: '/pets' },
    params: petId,
    answers: answer(200, 'The requested animal.', PetSchema, { animal: example('An animal', rex) }),
    isCached: true,

    async handle({ params }, { catalogue }) {
      const pet = await catalogue.get(petId.read(params));
      if (pet === null) throw new AppError('not_found', petId.unknown);
      return { status: 200, body: pet };
    },
  }),

  defineOperation('updatePet', 'PATCH /pets/{petId}', 'pets:manage', {
    guide: 'changing-animals',
    summary: 'Change an animal',
    description: `Changes the fields that the body names and leaves the others (JSON Merge Patch, RFC 7396). ${nullRule} While an order owns the animal, only the order changes its \`status\`. With \`If-Match\`, the animal is changed only if it still has one of these \`ETag\`s. The change is on disk before the response is sent.`,
    params: petId,
    body: PetPatchSchema,
    bodyTypes: jsonTypes.mergePatch,
    bodyExamples: {
      status: example('One field', { status: 'sold' }),
      all: example('All fields', examplePet),
    },
    isConditional: true,
    answers: answer(200, 'The animal as it is now.', PetSchema, changed, ['ETag']),
    failures: editMessages,

    async handle({ params, body, headers, caller: { accountId } }, { catalogue }) {
      const change = (tags: IfMatch) => catalogue.change(petId.read(params), body, tags, accountId);
      const text = writePet(await changeIfMatch(headers, change));
      return { status: 200, text, headers: { etag: computeEtag(text) } };
    },
  }),

  defineOperation('deletePet', 'DELETE /pets/{petId}', 'pets:manage', {
    guide: 'changing-animals',
    summary: 'Delete an animal',
    isDrastic: true,
    description:
      'Deletes an animal; its identifier is never used again. An animal that an order owns cannot be deleted. With `If-Match`, the animal is deleted only if it still has one of these `ETag`s.',
    params: petId,
    isConditional: true,
    answers: answer(204, 'The animal is deleted.'),
    failures: editMessages,

    async handle({ params, headers, caller: { accountId } }, { catalogue }) {
      await changeIfMatch(headers, (tags) => catalogue.remove(petId.read(params), tags, accountId));
      return { status: 204 };
    },
  }),
];
