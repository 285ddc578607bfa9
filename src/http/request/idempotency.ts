import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../../accounts/account.ts';
import { AppError } from '../../errors.ts';
import { hashIdempotencyKey, type Idempotency } from '../../idempotency/first-answer.ts';

const keyText = /^[!-~]{1,255}$/;

/**
 * Reads the `Idempotency-Key` of a request together with its operation and the hash of its body. Null without the
 * header. Throws `invalid_parameter`.
 */
export function readIdempotency(
  headers: IncomingHttpHeaders,
  { accountId }: Caller,
  operation: string,
  bytes: Uint8Array,
): Idempotency | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !keyText.test(key))
    throw new AppError('invalid_parameter', 'Idempotency-Key must have 1 to 255 visible ASCII characters');
  const keyHash = hashIdempotencyKey(accountId, key);
  return { accountId, keyHash, operation, bodyHash: hash('sha256', bytes, 'buffer') };
}
