import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../config.ts';
import { base62, randomText } from '../random-text.ts';

/** The environments of keys. Each key names its own (`as_<env>_…`), so that people see which keys are live. */
export const keyEnvironments = ['dev', 'stg', 'live'] as const;

/** One of `keyEnvironments`. */
export type KeyEnvironment = (typeof keyEnvironments)[number];

/** The environment of the keys that the service issues and accepts, by the setting `ENVIRONMENT`. */
export const keyEnvironmentOf: Readonly<Record<Environment, KeyEnvironment>> = {
  development: 'dev',
  staging: 'stg',
  production: 'live',
};

/** The pattern of a key id. */
export const keyIdPattern = '^key_[0-9A-Za-z]{16}$';
/** Number of random characters in a key. */
export const randomLength = 22;
/** 6 base62 digits hold every CRC-32. */
const checksumLength = 6;
/** Enough for people to tell keys apart. About 107 random bits stay hidden. */
const visibleRandomLength = 4;
const keyText = new RegExp(
  `^as_(?:${keyEnvironments.join('|')})_[0-9A-Za-z]{${randomLength + checksumLength}}$`,
);

/** Generates a key `as_<env>_<random><checksum>` with 130 random bits. */
export function generateKey(environment: KeyEnvironment): string {
  return formatKey(environment, randomText(randomLength));
}

/** Formats a key from `randomLength` base62 characters. The key is only as hard to guess as `random`. */
export function formatKey(environment: KeyEnvironment, random: string): string {
  const body = `as_${environment}_${random}`;
  return body + checksum(body);
}

/** True if a text has the format and the checksum of a key. Most mistyped keys fail this check and need no query. */
export function isKeyText(text: string): boolean {
  return keyText.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** True if a key belongs to an environment. Keys of other environments are refused without a query. */
export function isOfEnvironment(text: string, environment: KeyEnvironment): boolean {
  return text.startsWith(`as_${environment}_`);
}

/**
 * Returns the SHA-256 of a key. The store has only this hash, never the text. A fast hash without a salt is safe, because
 * nobody can guess 130 random bits, and a key is found by the index of its hash.
 */
export function hashKey(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

/** Returns the part of a key that may be stored and shown: the prefix and 4 random characters. */
export function visibleStart(text: string): string {
  return text.slice(0, text.length - checksumLength - randomLength + visibleRandomLength);
}

/** Returns the CRC-32 of `body` in base62. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < checksumLength; place += 1) {
    text = base62.charAt(rest % base62.length) + text;
    rest = Math.floor(rest / base62.length);
  }
  return text;
}

/** Maximum number of keys of other environments that a warning lists. Ask for one more, to learn whether there are more. */
export const foreignKeysMax = 10;

/** Returns the words of a start and of the doctor for keys of other environments, which come from a copied store. */
export function describeForeignKeys(keyIds: readonly string[], environment: string): string {
  const listed = keyIds.slice(0, foreignKeysMax).join(', ');
  const more = keyIds.length > foreignKeysMax ? ' and more' : '';
  return `keys of another environment do not work in ${environment}: ${listed}${more}`;
}
