import type { Limits, PlanName } from '../plans/plan.ts';

/** What a key may be limited to (contract section 9). */
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

/** What a partner needs: the scopes of a key for which none are named. */
export const partnerScopes: readonly Scope[] = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'webhooks:manage',
];

/** The scopes that another covers. */
const covered: Partial<Record<Scope, readonly Scope[]>> = {
  'orders:manage': ['orders:read', 'orders:write'],
};

/** Whether scopes give what one asks for, or one of several: by name, or because one of them covers it. */
export function coversScope(held: readonly Scope[], asked: Scope | readonly Scope[]): boolean {
  if (typeof asked !== 'string') return asked.some((one) => coversScope(held, one));
  return held.includes(asked) || held.some((scope) => covered[scope]?.includes(asked) === true);
}

/** Who sends a request: a key that is valid now, and its account, whose keys share its limits. */
export interface Caller {
  readonly accountId: bigint;
  readonly accountName: string;
  readonly keyId: string;
  readonly plan: PlanName;
  readonly limits: Limits;
  readonly scopes: readonly Scope[];
}

/** The most code points that the name of an account has. */
const accountNameLengthMax = 100;

/** What `isAccountName` asks for, in words. */
export const accountNameRule = `an account name must have 1 to ${accountNameLengthMax} characters, no control characters, and no blank at its ends`;

/** Whether a text can name an account: 1 to 100 code points, not blank at either end, no control characters. */
export function isAccountName(text: string): boolean {
  const isShort = text.length <= 2 * accountNameLengthMax && [...text].length <= accountNameLengthMax;
  return text !== '' && isShort && text.trim() === text && !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** The scopes of a comma-separated list or of `all`, in the order of `scopes`, or the reason why it is none. */
export function parseScopes(text: string): readonly Scope[] | { problem: string } {
  if (text.trim() === 'all') return scopes;
  const named = text.split(',').map((name) => name.trim());
  const unknown = named.find((name) => !scopes.some((scope) => scope === name));
  if (unknown !== undefined)
    return { problem: `scopes must be all, or among ${scopes.join(', ')}, not "${unknown}"` };
  return scopes.filter((scope) => named.includes(scope));
}
