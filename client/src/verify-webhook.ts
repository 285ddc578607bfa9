import { argumentError } from './errors.ts';
import { parseExactJson } from './exact-json.ts';
import type { WebhookMessage } from './generated.ts';
import { decodeBase64, importSecret, joinSigned, readBody } from './webhook-signature.ts';

/** The headers of a request: a `Headers` object, or a plain object as in Node.js, with names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Maximum difference between the timestamp of a message and the local clock, in seconds. */
const toleranceSeconds = 300;

/**
 * Verifies a request to a webhook (Standard Webhooks 1.0.0) and returns its event. Returns null if no signature matches
 * the secret, or if the timestamp differs from the local clock by more than 5 minutes. `body` is the raw body. Each
 * int64 in the event is a bigint. Throws `invalid_argument` if the secret is invalid, or if `body` or `headers` has
 * another type, for example because `body` is already parsed.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Promise<WebhookMessage | null> {
  const key = await importSecret(secret);
  const bytes = readBody(body);
  if (typeof headers !== 'object' || headers === null) throw argumentError('headers', 'must be an object');
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    readHeader(headers, name),
  );
  if (id == null || timestamp == null || signatures == null || !isRecent(timestamp)) return null;
  const signed = joinSigned(id, timestamp, bytes);
  for (const signature of signatures.split(' ')) {
    const code = signature.startsWith('v1,') ? decodeBase64(signature.slice('v1,'.length)) : null;
    if (code !== null && (await crypto.subtle.verify('HMAC', key, code, signed)))
      return parseExactJson(new TextDecoder().decode(bytes)) as WebhookMessage;
  }
  return null;
}

function readHeader(headers: WebhookHeaders, name: string): string | null {
  if ('get' in headers && typeof headers.get === 'function') return headers.get(name);
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  const text: unknown = Array.isArray(value) ? value[0] : value;
  return typeof text === 'string' ? text : null;
}

function isRecent(timestamp: string): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds;
}
