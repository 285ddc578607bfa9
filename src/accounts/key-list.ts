import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import type { PlanName } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import type { Scope } from './account.ts';
import { noSuchAccount } from './account-changes.ts';
import { selectAccount } from './account-rows.ts';
import { selectKeys, selectNewestKeys, selectUnrevokedKeys, selectUnrevokedKeysFrom } from './key-rows.ts';
import { type KeyState, readRevocation, readScopes, readState, toTime } from './key-state.ts';
import type { PartnerKey } from './schemas.ts';

/** A key as operators see it. Times are Unix milliseconds. Null means never. */
export interface ListedKey {
  readonly id: string;
  readonly visibleStart: string;
  readonly name: string | null;
  readonly account: string;
  readonly plan: PlanName;
  /** `banned`: the key is valid, but its requests are refused until the ban expires. */
  readonly state: KeyState | 'banned';
  /** Null if the key is not banned. */
  readonly bannedUntilMs: number | null;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** Rounded down to the minute. */
  readonly lastUsedAtMs: number | null;
}

/** A key on a page of its account. `bannedUntilMs` is null if the key is not banned. */
export interface PagedKey {
  readonly key: PartnerKey;
  readonly bannedUntilMs: number | null;
}

/**
 * Returns a page of the keys of an account that are not revoked, newest first. The page starts at `firstId`, or at the
 * newest key if null.
 */
export async function listKeyPage(
  database: Database,
  accountId: bigint,
  limit: number,
  firstId: string | null,
  nowMs: number,
): Promise<Page<PagedKey, string>> {
  const range = { accountId, count: BigInt(limit + 1) };
  const rows = await (firstId === null
    ? database.read(selectUnrevokedKeys, range)
    : database.read(selectUnrevokedKeysFrom, { ...range, firstId }));
  return toPage(rows, limit, (row) => toPagedKey(row, nowMs));
}

/** Returns all keys, oldest first. */
export async function listAllKeys(database: Database, nowMs: number): Promise<ListedKey[]> {
  return (await database.read(selectKeys, {})).map((row) => toListedKey(row, nowMs));
}

/**
 * Returns the `count` newest keys of an account, or all without a `count`, the oldest of them first. Throws
 * OperatorError if the account does not exist.
 */
export async function listAccountKeys(
  database: Database,
  account: string,
  nowMs: number,
  count = int64Max,
): Promise<ListedKey[]> {
  const [found] = await database.read(selectAccount, { name: account });
  if (found === undefined) throw noSuchAccount(account);
  const rows = await database.read(selectNewestKeys, { accountId: found.id, count });
  return rows.toReversed().map((row) => toListedKey(row, nowMs));
}

interface KeyRow {
  readonly id: string;
  readonly visible_start: string;
  readonly name: string | null;
  readonly account_name: string;
  readonly plan: string;
  readonly scopes: string;
  readonly created_at_ms: bigint;
  readonly expires_at_ms: bigint | null;
  readonly revoked_at_ms: bigint | null;
  readonly last_used_at_ms: bigint | null;
  readonly banned_until_ms: bigint | null;
}

function toListedKey(row: KeyRow, nowMs: number): ListedKey {
  const bannedUntilMs = readBan(row, nowMs);
  return {
    id: row.id,
    visibleStart: row.visible_start,
    name: row.name,
    account: row.account_name,
    plan: row.plan as PlanName,
    state: bannedUntilMs === null ? readState(row, nowMs) : 'banned',
    bannedUntilMs,
    scopes: readScopes(row.scopes),
    createdAtMs: Number(row.created_at_ms),
    expiresAtMs: toMs(row.expires_at_ms),
    revokedAtMs: readRevocation(row),
    lastUsedAtMs: toMs(row.last_used_at_ms),
  };
}

function toPagedKey(row: KeyRow, nowMs: number): PagedKey {
  const state = readState(row, nowMs);
  const key = {
    id: row.id,
    name: row.name,
    scopes: [...readScopes(row.scopes)],
    expiresAt: toTime(toMs(row.expires_at_ms)),
    start: row.visible_start,
    state: state === 'revoked' ? 'expired' : state,
    createdAt: new Date(Number(row.created_at_ms)).toISOString(),
    lastUsedAt: toTime(toMs(row.last_used_at_ms)),
  };
  return { key, bannedUntilMs: readBan(row, nowMs) };
}

/** Returns when the ban of a valid key ends. Null if the key is not banned, or not valid. */
function readBan(row: KeyRow, nowMs: number): number | null {
  const state = readState(row, nowMs);
  const isValid = state === 'active' || state === 'rotated';
  return isValid && (row.banned_until_ms ?? 0n) > nowMs ? Number(row.banned_until_ms) : null;
}

function toMs(ms: bigint | null): number | null {
  return ms === null ? null : Number(ms);
}
