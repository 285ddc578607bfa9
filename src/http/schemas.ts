import Type, { type Static } from 'typebox';
import { errorCodes } from '../errors.ts';
import { int64Schema, NewPetSchema, PetSchema, PetStatusSchema } from '../pets/pet.ts';

export { NewPetSchema, PetSchema };

export const PetListSchema = Type.Array(PetSchema, { maxItems: 100 });

/** Interface section 2, Error. */
export const ErrorSchema = Type.Object({
  code: Type.Unsafe<(typeof errorCodes)[number]>({
    type: 'string',
    enum: [...errorCodes],
    description: 'Machine-readable error code.',
  }),
  message: Type.String({ description: 'Human-readable description.' }),
  status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status code.' }),
});

export const defaultPageLimit = 20;

/** Interface section 4.1, with the cursor of contract section 3. */
export const ListQuerySchema = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: defaultPageLimit,
      description: 'Maximum number of animals returned.',
    }),
  ),
  status: Type.Optional(PetStatusSchema),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Where the page begins, as a `Link` of the page before has it.',
    }),
  ),
});

export type ListQuery = Static<typeof ListQuerySchema>;

/** For routes that take no query parameter at all. */
export const EmptyQuerySchema = Type.Object({});

export const PetParamsSchema = Type.Object({ petId: int64Schema('Identifier of the animal.') });
