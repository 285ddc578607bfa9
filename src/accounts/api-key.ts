import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../config.ts';

/** The environment in the text of a key. It shows that a key found in a test file is a live one. */
export const keyEnvironments = ['dev', 'stg', 'live'] as const;

/** One of `keyEnvironments`. */
export type KeyEnvironment = (typeof keyEnvironments)[number];

/** The environment of the keys that an installation issues and accepts (contract section 5). */
export const keyEnvironmentOf: Readonly<Record<Environment, KeyEnvironment>> = {
  development: 'dev',
  staging: 'stg',
  production: 'live',
};

/** The digits of base62 in the order of their values. */
export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The number of random characters in a key. */
export const randomLength = 22;
const checksumLength = 6;
const visibleRandomLength = 4;
const keyText = new RegExp(
  `^as_(?:${keyEnvironments.join('|')})_[0-9A-Za-z]{${randomLength + checksumLength}}$`,
);

/** `count` random characters of base62, each equally likely: about 5.95 bits each. */
export function randomText(count: number): string {
  const unbiased = 256 - (256 % base62.length);
  let text = '';
  while (text.length < count) {
    for (const byte of randomBytes(count))
      if (byte < unbiased && text.length < count) text += base62[byte % base62.length];
  }
  return text;
}

/** Generates a key `as_<env>_<random><checksum>` with 130 random bits (contract section 5). */
export function generateKey(environment: KeyEnvironment): string {
  return formatKey(environment, randomText(randomLength));
}

/** Formats a key from `randomLength` characters of base62. It is as secret as they are. */
export function formatKey(environment: KeyEnvironment, random: string): string {
  const body = `as_${environment}_${random}`;
  return body + checksum(body);
}

/** Whether a text has the form and the checksum of a key. This finds most mistyped keys without a query. */
export function isKeyText(text: string): boolean {
  return keyText.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** Whether the text of a key belongs to an environment. Keys of other environments are refused without a query. */
export function isOfEnvironment(text: string, environment: KeyEnvironment): boolean {
  return text.startsWith(`as_${environment}_`);
}

/** The stored hash of a key: its SHA-256. */
export function hashKey(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

/** The start of a key that may be shown, with 4 of its random characters. It distinguishes keys. */
export function visibleStart(text: string): string {
  return text.slice(0, text.length - checksumLength - randomLength + visibleRandomLength);
}

/** The CRC-32 of the text before it, in base62. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < checksumLength; place += 1) {
    text = base62.charAt(rest % base62.length) + text;
    rest = Math.floor(rest / base62.length);
  }
  return text;
}
