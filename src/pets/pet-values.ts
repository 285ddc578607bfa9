import { computeEtag } from '../etag.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { type NewPet, type Pet, type PetField, type PetPatch, petDefaults, petFields } from './pet.ts';

/** Returns the known fields of an animal that are present, in the documented order. */
export function pickPetFields(values: Readonly<Partial<Record<PetField, unknown>>>): PetPatch {
  const given = petFields.filter((field) => values[field] !== undefined);
  return Object.fromEntries(given.map((field) => [field, values[field]]));
}

/** Returns a new animal for storage, with only the known fields, and with the defaults. */
export function completeNewPet(newPet: NewPet): Omit<Pet, 'id'> {
  return pickPetFields({ ...petDefaults, ...newPet }) as Omit<Pet, 'id'>;
}

/** The ETags in `If-Match`, of which the animal must have one. Null means no condition. */
export type IfMatch = readonly string[] | null;

/** Returns the JSON of an animal, the same in all responses. */
export function writePet(pet: Pet): string {
  return stringifyExactJson(pet);
}

/** Returns true if one of the tags is the ETag of the animal or of a page with only this animal, or `tags` is null. */
export function hasOneTag(pet: Pet, tags: IfMatch): boolean {
  if (tags === null) return true;
  const text = writePet(pet);
  return tags.includes(computeEtag(text)) || tags.includes(computeEtag(`[${text}]`));
}
