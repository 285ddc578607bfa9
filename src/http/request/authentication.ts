import type { IncomingHttpHeaders } from 'node:http';
import type { KeyLookup, LookedUp } from '../../accounts/key-lookup.ts';
import type { KeyRefusal } from '../../accounts/key-state.ts';
import type { Verification } from '../../accounts/key-verifier.ts';
import { AppError } from '../../errors.ts';
import type { Soon } from '../../soon.ts';

/** Error code of a request without a valid key. */
export type Refusal = KeyRefusal | 'api_key_missing';

const usualScheme = 'Bearer ';
const missing = { refusal: 'api_key_missing' } as const;
/**
 * Matches the token after the scheme. Only spaces may separate scheme and token (RFC 9110, section 11.4), so a tab
 * belongs to the token.
 */
const bearer = /^bearer(?: +|(?=\t))(.+)$/i;

/**
 * Looks up the key in an `Authorization` header (contract section 5). `address` is the client address, because lookups
 * of unknown keys are limited for each address.
 */
export function authenticate(
  keyLookup: KeyLookup,
  authorization: string | undefined,
  address: string,
): Soon<LookedUp> | typeof missing {
  if (authorization === undefined) return missing;
  const token = readToken(authorization);
  return token === undefined ? missing : keyLookup.verify(token, address);
}

/** Verifies the key of an admitted request again. */
export function authenticateAgain(
  keyLookup: KeyLookup,
  { authorization = '' }: IncomingHttpHeaders,
): Soon<Verification> {
  return keyLookup.verifyAgain(readToken(authorization) ?? '');
}

/** Reads the usual form without the regular expression, which is slower. */
function readToken(authorization: string): string | undefined {
  const isUsual =
    authorization.startsWith(usualScheme) && authorization.charCodeAt(usualScheme.length) > 0x20;
  return isUsual ? authorization.slice(usualScheme.length) : bearer.exec(authorization)?.[1];
}

const messages: Record<Refusal, string> = {
  api_key_missing: 'Authorization: missing API key; send "Authorization: Bearer <API_KEY>"',
  api_key_invalid: 'Authorization: invalid API key',
  api_key_expired: 'Authorization: this API key has expired',
  api_key_revoked: 'Authorization: this API key has been revoked',
};

/** Returns the 401 error of a refusal. */
export function keyError(refusal: Refusal): AppError {
  return new AppError(refusal, messages[refusal]);
}
