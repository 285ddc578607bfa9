import type { PetInput } from '../../../pets/pet.ts';

/** The values of a form by field name. Fields without a value are absent. */
type Form = Readonly<Partial<Record<string, string>>>;

/** A field of an animal in a form. */
type Input = Pick<PetInput, 'isInt64' | 'isRemovable'> & { readonly field: string };

/** Returns the fields of an animal that a form has. White space around a number does not count. */
export function readInputs(inputs: readonly Input[], form: Form) {
  return Object.fromEntries(
    inputs.flatMap((input) => {
      const text = form[input.field];
      return text === undefined ? [] : [[input.field, readInput(input, text)] as const];
    }),
  );
}

/**
 * Returns the fields of a form that differ from those of the animal. A field that somebody has emptied is a change too, but a
 * form omits it: null removes it, if an animal may lack it. An empty text is the value that the API refuses.
 */
export function readChanges(inputs: readonly Input[], pet: Readonly<Record<string, unknown>>, form: Form) {
  const entered = inputs.map((input) => ({ ...input, value: readInput(input, form[input.field] ?? '') }));
  const changed = entered.filter(({ field, value }) => String(value) !== (pet[field] ?? ''));
  return Object.fromEntries(
    changed.map(({ field, value, isRemovable }) => [field, value === '' && isRemovable ? null : value]),
  );
}

/** Returns a text that is no canonical integer unchanged, so that the API refuses it with an error message. */
function readInput({ isInt64 }: Input, text: string): bigint | string {
  const number = text.trim();
  if (!isInt64) return text;
  return /^(?:0|-?[1-9]\d*)$/.test(number) ? BigInt(number) : number;
}
