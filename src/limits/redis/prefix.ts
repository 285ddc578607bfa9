import { hash } from 'node:crypto';

/**
 * The prefix of a store's keys in Redis. It follows from a secret that the store's instances share, because several
 * stores may use one Redis.
 */
export function redisPrefix(secret: Uint8Array): string {
  return `animal-store:${hash('sha256', secret, 'hex').slice(0, 12)}:`;
}
