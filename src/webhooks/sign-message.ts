import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import { secondMs } from '../clock.ts';

const prefix = 'whsec_';
const secretBytes = 32;

/** Returns a new secret: 256 bits from the random generator of the system. */
export function generateSecret(): Uint8Array {
  return randomBytes(secretBytes);
}

/** Returns the text form of a secret, which its owner sees only once. */
export function writeSecret(secret: Uint8Array): string {
  return prefix + Buffer.from(secret).toString('base64');
}

/**
 * Returns the headers of a message (Standard Webhooks 1.0.0), with one signature for each secret. `atMs` is the time of
 * the message in Unix milliseconds.
 */
export function signMessage(
  { id, body }: { readonly id: string; readonly body: string },
  secrets: readonly Uint8Array[],
  atMs: number,
): Record<string, string> {
  const at = new Date(atMs);
  const signatures = secrets.map((secret) => new Signer(secret, { format: 'raw' }).sign(id, at, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atMs / secondMs)),
    'webhook-signature': signatures.join(' '),
  };
}
