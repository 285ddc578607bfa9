import { createHmac } from 'node:crypto';
import { base62 } from '../accounts/api-key.ts';

/** Makes and reads the ids of events. */
export interface EventIds {
  /** The id of the event at a position, 0 and up; that of 0 stands before the first. */
  write(position: bigint): string;
  /** The position of an id, or null for a text that this service did not make. */
  read(text: string): bigint | null;
}

const prefix = 'evt_';
/** Enough for every int64. */
const positionLength = 11;
const sealLength = 5;
const base = BigInt(base62.length);

/**
 * An id is its position in base62, whose digits stand in the order of ASCII, so that ids compare as positions do; and a
 * seal by the store's secret, so that nobody else can make one. All instances over one store read each other's.
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

/** The last digits of a number, 0 and up. */
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
