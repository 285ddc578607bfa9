import { computeEtag } from '../etag.ts';
import { stringifyExactJson } from '../exact-json.ts';
import type { Pet } from './pet.ts';

/**
 * The validators of a conditional change (contract section 10). The animal must have one of them. Null: no condition.
 */
export type IfMatch = readonly string[] | null;

/** Writes an animal as every answer has it. */
export function writePet(pet: Pet): string {
  return stringifyExactJson(pet);
}

/** Whether an animal has one of the validators: its own, or that of a list of only this animal. */
export function hasOneTag(pet: Pet, tags: IfMatch): boolean {
  if (tags === null) return true;
  const text = writePet(pet);
  return tags.includes(computeEtag(text)) || tags.includes(computeEtag(`[${text}]`));
}
