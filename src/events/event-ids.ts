import { createHmac } from 'node:crypto';
import { base62 } from '../random-text.ts';

/** Converts positions in the feed to event ids and back. */
export type EventIds = ReturnType<typeof createEventIds>;

const prefix = 'evt_';
/** 11 base62 digits are enough for every int64. */
const positionLength = 11;
/** 29 bits: a guessed id is wrong, and a seal is only a check. What a key may read does not depend on it. */
const sealLength = 5;
const form = new RegExp(`^${prefix}([0-9A-Za-z]{${positionLength}})[0-9A-Za-z]{${sealLength}}$`);
const base = BigInt(base62.length);

/**
 * An id is a prefix, a position in base62 and a seal: a truncated HMAC of the position with the secret of the store, so
 * that clients cannot invent ids. The digits of base62 are in ASCII order, so ids sort like their positions.
 */
export function createEventIds(secret: Uint8Array) {
  /** Position 0 is before the first event. */
  function write(position: bigint): string {
    const digits = toDigits(position, positionLength);
    const code = createHmac('sha256', secret).update(prefix).update(digits).digest().readBigUInt64BE();
    return prefix + digits + toDigits(code, sealLength);
  }

  return {
    write,
    /** Returns null if the id was not created with the secret of this store. */
    read(text: string): bigint | null {
      const [, digits = ''] = form.exec(text) ?? [];
      let position = 0n;
      for (const digit of digits) position = position * base + BigInt(base62.indexOf(digit));
      return write(position) === text ? position : null;
    },
  };
}

/** Returns the last `length` base62 digits of a number, which must not be negative. */
function toDigits(number: bigint, length: number): string {
  let rest = number;
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = base62.charAt(Number(rest % base)) + text;
    rest /= base;
  }
  return text;
}
