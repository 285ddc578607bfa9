import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../../accounts/account.ts';
import { AppError } from '../../errors.ts';
import type { Idempotency } from '../../pets/catalogue.ts';

const keyText = /^[!-~]{1,255}$/;

/**
 * The `Idempotency-Key` of a request, which stands for the account and the exact bytes of the body; null without one.
 * Throws `invalid_parameter`.
 */
export function readIdempotency(
  headers: IncomingHttpHeaders,
  { accountId }: Caller,
  bytes: Uint8Array,
): Idempotency | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !keyText.test(key))
    throw new AppError('invalid_parameter', 'Idempotency-Key must have 1 to 255 visible ASCII characters');
  return { accountId, key, bodyHash: hash('sha256', bytes, 'buffer') };
}
