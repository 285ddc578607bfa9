import { argumentError } from './errors.ts';
import { encodeBase64, importSecret, joinSigned, readBody } from './webhook-signature.ts';

export interface SignOptions {
  /** The id of the event, which becomes the header `webhook-id`. */
  readonly id: string;
  /** The time of the message in Unix seconds. Default: now. */
  readonly atSeconds?: number | undefined;
}

/** The headers with which the service signs a message. */
export interface SignedHeaders extends Readonly<Record<string, string>> {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/**
 * Returns the headers with which the service would send this body (Standard Webhooks 1.0.0), to test a receiver. `body`
 * is the raw body. Throws `invalid_argument` if the secret is invalid, or if an argument has another type.
 */
export async function signWebhook(
  body: string | Uint8Array,
  secret: string,
  { id, atSeconds = Math.floor(Date.now() / 1_000) }: SignOptions,
): Promise<SignedHeaders> {
  const key = await importSecret(secret);
  if (typeof id !== 'string' || !/^[!-~]+$/.test(id))
    throw argumentError('id', 'must be the id of an event, evt_…');
  if (!Number.isSafeInteger(atSeconds) || atSeconds < 0)
    throw argumentError('atSeconds', 'must be a time in Unix seconds');
  const timestamp = String(atSeconds);
  const code = await crypto.subtle.sign('HMAC', key, joinSigned(id, timestamp, readBody(body)));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${encodeBase64(new Uint8Array(code))}`,
  };
}
