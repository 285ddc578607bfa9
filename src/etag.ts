import { hash } from 'node:crypto';

const etagLength = 22;

/**
 * Returns the strong ETag of a body (RFC 9110, section 8.8.3): 132 bits of its SHA-256. It is the same on every
 * instance.
 */
export function computeEtag(body: Uint8Array | string): string {
  return `"${hash('sha256', body, 'base64url').slice(0, etagLength)}"`;
}
