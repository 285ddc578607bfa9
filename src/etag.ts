import { hash } from 'node:crypto';

const etagLength = 22;

/** Returns the strong ETag of a body, the same on every instance: 132 bits of its SHA-256. */
export function computeEtag(body: Uint8Array | string): string {
  const digest = hash('sha256', body, 'base64url');
  return `"${digest.slice(0, etagLength)}"`;
}
