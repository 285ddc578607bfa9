import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../../accounts/account.ts';
import { AppError } from '../../errors.ts';
import { hashIdempotencyKey, type Idempotency } from '../../idempotency/first-answer.ts';

const keyText = /^[!-~]{1,255}$/;

/**
 * Returns the hashed `Idempotency-Key` of a request, with the operation and the hash of the body. Returns null if the
 * header is absent. Throws `invalid_parameter` if the header is invalid.
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
