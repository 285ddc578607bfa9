import { createHmac } from 'node:crypto';
import { base62 } from '../accounts/api-key.ts';

/** Writes and reads the ids of events. */
export interface EventIds {
  /** The id of the event at a position, 0 or more. Position 0 is before the first event. */
  write(position: bigint): string;
  /** The position of an id. Null if this service did not make it. */
  read(text: string): bigint | null;
}

const prefix = 'evt_';
/** Enough digits for every int64. */
const positionLength = 11;
const sealLength = 5;
const base = BigInt(base62.length);

/**
 * An id is a position in base62 and a seal, an HMAC with the secret of the store. The digits of base62 are in ASCII
 * order, so ids sort as positions do. Only the store can make an id, and all instances that share a store accept it.
 */
export function createEventIds(secret: Uint8Array): EventIds {
  function seal(digits: string): string {
    const code = createHmac('sha256', secret).update(prefix).update(digits).digest().readBigUInt64BE();
    return toDigits(code, sealLength);
  }

  function write(position: bigint): string {
    const digits = toDigits(position, positionLength);
    return prefix + digits + seal(digits);
  }

  return {
    write,
    read(text) {
      if (text.length !== prefix.length + positionLength + sealLength) return null;
      const digits = text.slice(prefix.length, prefix.length + positionLength);
      const position = fromDigits(digits);
      return position !== null && write(position) === text ? position : null;
    },
  };
}

/** The last `length` digits of a number, 0 or more. */
function toDigits(number: bigint, length: number): string {
  let rest = number;
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = base62.charAt(Number(rest % base)) + text;
    rest /= base;
  }
  return text;
}

function fromDigits(digits: string): bigint | null {
  let number = 0n;
  for (const digit of digits) {
    const value = base62.indexOf(digit);
    if (value === -1) return null;
    number = number * base + BigInt(value);
  }
  return number;
}
