import { computeEtag } from '../etag.ts';
import { stringifyExactJson } from '../exact-json.ts';
import type { Pet } from './pet.ts';

/** The validators that a change of an animal names (contract section 10), one of which must be its own; null names none. */
export type IfMatch = readonly string[] | null;

/** An animal as it stands in every answer. */
export function writePet(pet: Pet): string {
  return stringifyExactJson(pet);
}

/** Whether an animal has one of the validators: that of itself, or of a list of it alone. */
export function hasOneTag(pet: Pet, tags: IfMatch): boolean {
  if (tags === null) return true;
  const text = writePet(pet);
  return tags.includes(computeEtag(text)) || tags.includes(computeEtag(`[${text}]`));
}
