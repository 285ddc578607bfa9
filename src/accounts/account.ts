import { AppError } from '../errors.ts';
import type { Limits, PlanName } from '../plans/plan.ts';

/** The scopes that a key can have. */
export const scopes = [
  'pets:read',
  'pets:write',
  'pets:manage',
  'orders:read',
  'orders:write',
  'orders:manage',
  'webhooks:manage',
  'keys:manage',
] as const;

/** One of `scopes`. */
export type Scope = (typeof scopes)[number];

/** Default scopes of a new key, chosen for partners. */
export const partnerScopes: readonly Scope[] = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'webhooks:manage',
];

const covered: Partial<Record<Scope, readonly Scope[]>> = {
  'orders:manage': ['orders:read', 'orders:write'],
};

/** True if `owned` has or includes the required scope. Of a list, any one scope is enough. */
export function coversScope(owned: readonly Scope[], required: Scope | readonly Scope[]): boolean {
  if (typeof required !== 'string') return required.some((one) => coversScope(owned, one));
  return owned.includes(required) || owned.some((scope) => covered[scope]?.includes(required) === true);
}

/** The sender of a request: a valid key and its account. */
export interface Caller {
  readonly accountId: bigint;
  readonly accountName: string;
  readonly keyId: string;
  readonly keyName: string | null;
  /** Null: the key never expires. */
  readonly keyExpiresAtMs: number | null;
  readonly plan: PlanName;
  readonly limits: Limits;
  readonly scopes: readonly Scope[];
  /** If true, every request gets 403. */
  readonly isSuspended: boolean;
}

/** Why a key is refused. `api_key_invalid`: the key is unknown, mistyped, or from another environment. */
export type KeyRefusal = 'api_key_invalid' | 'api_key_expired' | 'api_key_revoked';

/** The message of each 401 error. */
export const keyMessages: Readonly<Record<KeyRefusal | 'api_key_missing', string>> = {
  api_key_missing: 'Authorization: missing API key; send "Authorization: Bearer <API_KEY>"',
  api_key_invalid: 'Authorization: invalid API key',
  api_key_expired: 'Authorization: this API key has expired',
  api_key_revoked: 'Authorization: this API key has been revoked',
};

/** Returns the 401 error for requests without a valid key. */
export function keyError(code: keyof typeof keyMessages): AppError {
  return new AppError(code, keyMessages[code]);
}

/** Returns the 403 error for requests of a suspended account. */
export function accountSuspended(): AppError {
  return new AppError('account_suspended', 'this account is suspended; ask the operator of the store');
}

/** In Unicode code points. */
export const accountNameLengthMax = 100;

/** Error message for a name that `isAccountName` refuses. */
export const accountNameRule = `an account name must have 1 to ${accountNameLengthMax} characters, no control characters, and no space at either end, and must not be ".", ".." or like "deleted-7"`;

/** True if a text keeps `accountNameRule`. Browsers drop `.` and `..`; `deleted-7` is deleted account 7. */
export function isAccountName(text: string): boolean {
  const isShort = text.length <= 2 * accountNameLengthMax && [...text].length <= accountNameLengthMax;
  return (
    !/^(?:\.{0,2}|deleted-\d+)$/.test(text) &&
    isShort &&
    text.trim() === text &&
    !/[\p{Cc}\p{Cs}]/u.test(text)
  );
}

/** Parses `all` or a comma-separated list of scopes into the order of `scopes`. A name that is no scope is a problem. */
export function parseScopes(text: string): readonly Scope[] | { problem: string } {
  if (text.trim() === 'all') return scopes;
  const named = text.split(',').map((name) => name.trim());
  const unknown = named.find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined)
    return {
      problem: `scopes must be "all" or a comma-separated list of ${scopes.join(', ')}, not "${unknown}"`,
    };
  return scopes.filter((scope) => named.includes(scope));
}
