import { randomBytes } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import { secondMs } from '../clock.ts';

/** Generates the secret of a webhook, which signs its messages. */
export function generateSecret(): Uint8Array {
  return randomBytes(32);
}

/** Writes a secret as its owner sees it. */
export function writeSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`;
}

/** Returns the headers of a message (Standard Webhooks 1.0.0), with one signature for each secret. */
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
