import { argumentError } from './errors.ts';

/** The length of a secret, as Standard Webhooks 1.0.0 has it. */
const secretBytesMin = 24;
const secretBytesMax = 64;

/** Throws `invalid_argument` if the text is not the secret of a webhook: `whsec_` and base64 of 24 to 64 bytes. */
export async function importSecret(secret: string): Promise<CryptoKey> {
  const isMarked = typeof secret === 'string' && secret.startsWith('whsec_');
  const bytes = isMarked ? decodeBase64(secret.slice('whsec_'.length)) : null;
  if (bytes === null || bytes.length < secretBytesMin || bytes.length > secretBytesMax)
    throw argumentError(
      'secret',
      `must be whsec_ followed by base64 of ${secretBytesMin} to ${secretBytesMax} bytes`,
    );
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

/** Returns the bytes of a body. Throws `invalid_argument` if it is already parsed. */
export function readBody(body: string | Uint8Array): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return body;
  throw argumentError('body', 'must be the raw body, as a string or a Uint8Array');
}

/** Returns the bytes that a signature covers (Standard Webhooks 1.0.0). */
export function joinSigned(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  return signed;
}

/** Returns null if the text is not base64. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
