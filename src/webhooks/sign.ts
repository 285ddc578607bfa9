import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import { secondMs } from '../clock.ts';

const prefix = 'whsec_';
const secretBytes = 32;

/** A new secret: 256 bits from the system's generator. */
export function generateSecret(): Uint8Array {
  return randomBytes(secretBytes);
}

/** The text form of a secret, which its owner sees once. */
export function writeSecret(secret: Uint8Array): string {
  return prefix + Buffer.from(secret).toString('base64');
}

/** A message to sign. */
export interface Message {
  readonly id: string;
  readonly body: string;
}

/**
 * The headers of a message by Standard Webhooks 1.0.0, with one signature for each secret, at a time in Unix
 * milliseconds.
 */
export function signMessage(
  { id, body }: Message,
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
