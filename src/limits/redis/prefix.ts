import { hash } from 'node:crypto';

/**
 * Returns the prefix of a store's keys in Redis. Several stores may use one Redis. So the prefix is derived from a
 * secret that only the instances of one store share.
 */
export function redisPrefix(secret: Uint8Array): string {
  return `animal-store:${hash('sha256', secret, 'hex').slice(0, 12)}:`;
}
