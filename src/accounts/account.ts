import type { Limits, PlanName } from '../plans/plan.ts';

/** The scopes that a key can have (contract section 9). */
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

/** The default scopes of a key: those that a partner needs. */
export const partnerScopes: readonly Scope[] = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'webhooks:manage',
];

/** The scopes that another scope covers. */
const covered: Partial<Record<Scope, readonly Scope[]>> = {
  'orders:manage': ['orders:read', 'orders:write'],
};

/** Whether scopes include the required scope, or any one of several, directly or because a scope covers it. */
export function coversScope(owned: readonly Scope[], required: Scope | readonly Scope[]): boolean {
  if (typeof required !== 'string') return required.some((one) => coversScope(owned, one));
  return owned.includes(required) || owned.some((scope) => covered[scope]?.includes(required) === true);
}

/** The sender of a request: a valid key and its account. All keys of an account share its limits. */
export interface Caller {
  readonly accountId: bigint;
  readonly accountName: string;
  readonly keyId: string;
  readonly plan: PlanName;
  readonly limits: Limits;
  readonly scopes: readonly Scope[];
  /** Every request of a suspended account is refused (contract section 16). */
  readonly isSuspended: boolean;
}

/** The most code points in the name of an account. */
export const accountNameLengthMax = 100;

/** The rule of `isAccountName` in words. */
export const accountNameRule = `an account name must have 1 to ${accountNameLengthMax} characters, no control characters, and no space at either end`;

/** Whether a text is a valid account name: 1 to 100 code points, no space at either end, no control characters. */
export function isAccountName(text: string): boolean {
  const isShort = text.length <= 2 * accountNameLengthMax && [...text].length <= accountNameLengthMax;
  return text !== '' && isShort && text.trim() === text && !/[\p{Cc}\p{Cs}]/u.test(text);
}

/**
 * Parses a comma-separated list of scopes, or `all`, in the order of `scopes`. Returns the problem of an invalid list.
 */
export function parseScopes(text: string): readonly Scope[] | { problem: string } {
  if (text.trim() === 'all') return scopes;
  const named = text.split(',').map((name) => name.trim());
  const unknown = named.find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined)
    return { problem: `scopes must be all, or among ${scopes.join(', ')}, not "${unknown}"` };
  return scopes.filter((scope) => named.includes(scope));
}
