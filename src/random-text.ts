import { randomBytes } from 'node:crypto';

/** The base62 digits in the order of their values. */
export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns `count` random base62 characters, each equally likely (about 5.95 bits per character). */
export function randomText(count: number): string {
  const unbiased = 256 - (256 % base62.length);
  let text = '';
  while (text.length < count) {
    for (const byte of randomBytes(count))
      if (byte < unbiased && text.length < count) text += base62[byte % base62.length];
  }
  return text;
}
