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

/** Scopes that include other scopes. */
const covered: Partial<Record<Scope, readonly Scope[]>> = {
  'orders:manage': ['orders:read', 'orders:write'],
};

/**
 * True if `owned` has the required scope, or a scope that includes it. If `required` is a list, any one scope of the
 * list is enough.
 */
export function coversScope(owned: readonly Scope[], required: Scope | readonly Scope[]): boolean {
  if (typeof required !== 'string') return required.some((one) => coversScope(owned, one));
  return owned.includes(required) || owned.some((scope) => covered[scope]?.includes(required) === true);
}

/** The authenticated sender of a request: a valid key and its account. All keys of an account share its limits. */
export interface Caller {
  readonly accountId: bigint;
  readonly accountName: string;
  readonly keyId: string;
  readonly keyName: string | null;
  /** Unix milliseconds. Null: the key never expires. */
  readonly keyExpiresAtMs: number | null;
  readonly plan: PlanName;
  readonly limits: Limits;
  readonly scopes: readonly Scope[];
  /** If true, every request gets 403. */
  readonly isSuspended: boolean;
}

/** Returns the 403 error for requests of a suspended account. */
export function accountSuspended(): AppError {
  return new AppError('account_suspended', 'this account is suspended; ask the operator of the store');
}

/** Maximum number of Unicode code points in an account name. */
export const accountNameLengthMax = 100;

/** Error message for a name that `isAccountName` refuses. */
export const accountNameRule = `an account name must have 1 to ${accountNameLengthMax} characters, no control characters, and no space at either end, and must not be ".", ".." or like "deleted-7"`;

/**
 * True if a text is a valid account name. Such a name has 1 to `accountNameLengthMax` code points, no control
 * characters, no lone surrogates, and no white space at either end.
 *
 * `.` and `..` are not valid, because a browser removes them from the path of a URL. `deleted-7` is the name of the
 * deleted account 7.
 */
export function isAccountName(text: string): boolean {
  const isShort = text.length <= 2 * accountNameLengthMax && [...text].length <= accountNameLengthMax;
  return (
    !/^(?:\.{0,2}|deleted-\d+)$/.test(text) &&
    isShort &&
    text.trim() === text &&
    !/[\p{Cc}\p{Cs}]/u.test(text)
  );
}

/**
 * Parses `all` or a comma-separated list of scopes. Returns the scopes in the order of `scopes`, or a problem if a
 * name is not a scope.
 */
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
