import { argumentError } from './errors.ts';

/** Throws `invalid_argument` if the text is not the secret of a webhook. */
export async function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = typeof secret === 'string' ? decodeBase64(secret.replace(/^whsec_/, '')) : null;
  if (bytes === null || bytes.length === 0)
    throw argumentError('secret', 'must be the secret of a webhook, whsec_…');
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
