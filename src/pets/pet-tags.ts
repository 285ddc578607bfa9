import { computeEtag } from '../etag.ts';
import { stringifyExactJson } from '../exact-json.ts';
import type { Pet } from './pet.ts';

/** The ETags in `If-Match` (contract section 10). The animal must have one of these ETags. Null means no condition. */
export type IfMatch = readonly string[] | null;

/** Returns the JSON of an animal, the same in all responses. */
export function writePet(pet: Pet): string {
  return stringifyExactJson(pet);
}

/**
 * Returns true if one of the tags is the ETag of the animal or of a page with only this animal. Returns true if `tags`
 * is null.
 */
export function hasOneTag(pet: Pet, tags: IfMatch): boolean {
  if (tags === null) return true;
  const text = writePet(pet);
  return tags.includes(computeEtag(text)) || tags.includes(computeEtag(`[${text}]`));
}
