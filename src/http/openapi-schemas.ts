import type { TSchema } from 'typebox';
import { stringifyExactJson } from '../exact-json.ts';
import { int64Max, int64Min } from '../int64.ts';
import { NewPetSchema, PetSchema, PetStatusSchema } from '../pets/pet.ts';
import { ErrorSchema } from './schemas.ts';

/** The schemas that the description names, the larger before those that they hold. */
const shared: readonly (readonly [name: string, schema: TSchema, description: string])[] = [
  ['Pet', PetSchema, 'An animal.'],
  ['NewPet', NewPetSchema, 'An animal to be added.'],
  ['PetStatus', PetStatusSchema, 'Availability of an animal.'],
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
 * A description in which every schema that is a shared one, but for its own description, refers to it, and every
 * int64 tells its bounds to the digit.
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
  return 'format' in node && node.format === 'int64'
    ? { ...members, minimum: int64Min, maximum: int64Max }
    : members;
}

function toSignature(schema: object): string {
  return stringifyExactJson({ ...schema, description: undefined });
}
