import Type, { type TSchema } from 'typebox';
import { CategorySchema, NewCategorySchema } from '../../categories/category.ts';
import { errorCodes } from '../../errors.ts';
import {
  CategoryEventSchema,
  CategoryPreviousSchema,
  OrderEventSchema,
  PetEventSchema,
  PetPreviousSchema,
} from '../../events/event.ts';
import { stringifyExactJson } from '../../exact-json.ts';
import { int64Max, int64Min } from '../../int64.ts';
import { NewOrderSchema, OrderSchema, OrderStatusSchema } from '../../orders/order.ts';
import { NewPetSchema, PetPatchSchema, PetSchema, PetStatusSchema } from '../../pets/pet.ts';

/** Interface section 2, Error. */
const ErrorSchema = Type.Object({
  code: Type.Unsafe<string>({
    type: 'string',
    enum: [...errorCodes],
    description: 'Machine-readable error code.',
  }),
  message: Type.String({
    maxLength: 2_000,
    pattern: '^[^\\x00-\\x1f\\x7f]*$',
    description: 'Human-readable description.',
  }),
  status: Type.Integer({
    format: 'int32',
    minimum: 400,
    maximum: 599,
    description: 'The HTTP status code.',
  }),
});

/** The schemas that have a name in the description, the larger before those that they contain. */
const shared: readonly (readonly [name: string, schema: TSchema, description: string])[] = [
  ['Pet', PetSchema, 'An animal.'],
  ['NewPet', NewPetSchema, 'An animal to be added.'],
  ['PetPatch', PetPatchSchema, 'A change of an animal: what it leaves out stays as it is.'],
  ['PetStatus', PetStatusSchema, 'Availability of an animal.'],
  ['Order', OrderSchema, 'An order: the reservation of an animal, and what became of it.'],
  ['NewOrder', NewOrderSchema, 'An order to be placed.'],
  ['OrderStatus', OrderStatusSchema, 'What has become of an order.'],
  ['Category', CategorySchema, 'A name for a number that animals may bear as `categoryId`.'],
  ['NewCategory', NewCategorySchema, 'The name of a category.'],
  ['PetEvent', PetEventSchema, 'What happened to an animal.'],
  ['CategoryEvent', CategoryEventSchema, 'What happened to a category.'],
  ['OrderEvent', OrderEventSchema, 'What happened to an order.'],
  ['PetPrevious', PetPreviousSchema, 'The former values of what has changed.'],
  ['CategoryPrevious', CategoryPreviousSchema, 'The former values of what has changed.'],
  ['Error', ErrorSchema, 'What went wrong.'],
];

const names = new Map(shared.map(([name, schema]) => [toSignature(schema), name]));

/** The shared schemas by their names. */
export function describeSchemas() {
  return Object.fromEntries(
    shared.map(([name, schema, description]) => [name, { ...describeMembers(schema), description }]),
  );
}

/**
 * A schema in which every shared one, whatever its own description, is a reference, and every int64 has its bounds to the
 * digit.
 */
export function shareSchemas(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const name = names.get(toSignature(node));
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  return describeMembers(node);
}

function describeMembers(node: object): object {
  if (Array.isArray(node)) return node.map(shareSchemas);
  const members = Object.fromEntries(
    Object.entries(node).map(([key, member]) => [key, shareSchemas(member)]),
  );
  if ('format' in node && node.format === 'int64' && !('minimum' in node))
    return { ...members, minimum: int64Min, maximum: int64Max };
  const isSmall = 'type' in node && node.type === 'integer' && !('format' in node);
  return isSmall ? { ...members, format: 'int32' } : members;
}

function toSignature(schema: object): string {
  return stringifyExactJson({ ...schema, description: undefined });
}
