import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../config.ts';

/** Where a key was issued; stands in its text so that a live key found in a test file is seen as one. */
export const keyEnvironments = ['dev', 'stg', 'live'] as const;

/** One of `keyEnvironments`. */
export type KeyEnvironment = (typeof keyEnvironments)[number];

/** The environment in the text of the keys that an installation issues and accepts (contract section 5). */
export const keyEnvironmentOf: Readonly<Record<Environment, KeyEnvironment>> = {
  development: 'dev',
  staging: 'stg',
  production: 'live',
};

/** The characters that keys are made of, each worth its place. */
export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** How many characters of a key are random. */
export const randomLength = 22;
const checksumLength = 6;
const visibleRandomLength = 4;
const keyText = new RegExp(
  `^as_(?:${keyEnvironments.join('|')})_[0-9A-Za-z]{${randomLength + checksumLength}}$`,
);

/** `count` characters of base62 from the system's generator, each with the same chance: about 5.95 bits apiece. */
export function randomText(count: number): string {
  const unbiased = 256 - (256 % base62.length);
  let text = '';
  while (text.length < count) {
    for (const byte of randomBytes(count))
      if (byte < unbiased && text.length < count) text += base62[byte % base62.length];
  }
  return text;
}

/** A new key `as_<env>_<random><checksum>` of 130 random bits (contract section 5). */
export function generateKey(environment: KeyEnvironment): string {
  return formatKey(environment, randomText(randomLength));
}

/** The key of `randomLength` characters of base62: as secret as they are. */
export function formatKey(environment: KeyEnvironment, random: string): string {
  const body = `as_${environment}_${random}`;
  return body + checksum(body);
}

/** Whether a text has a key's form and its checksum is right: a mistyped key is told from a real one without a query. */
export function isKeyText(text: string): boolean {
  return keyText.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** Whether a key, by its text, belongs to an environment: elsewhere it is refused without a query. */
export function isOfEnvironment(text: string, environment: KeyEnvironment): boolean {
  return text.startsWith(`as_${environment}_`);
}

/** What is stored of a key: its SHA-256. */
export function hashKey(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

/** The start of a key that may be shown, to tell keys apart: 4 of its random characters. */
export function visibleStart(text: string): string {
  return text.slice(0, text.length - checksumLength - randomLength + visibleRandomLength);
}

/** CRC-32 of all that stands before it, in base62. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < checksumLength; place += 1) {
    text = base62.charAt(rest % base62.length) + text;
    rest = Math.floor(rest / base62.length);
  }
  return text;
}
