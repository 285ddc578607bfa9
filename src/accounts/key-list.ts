import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import type { PlanName } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import { noSuchAccount } from './account-changes.ts';
import { selectAccount } from './account-rows.ts';
import { type KeyRow, selectKeyPage, selectKeys, selectNewestKeys } from './key-rows.ts';
import { readRevocation, readScopes, readState, toMs, toTime } from './key-state.ts';
import type { PartnerKey } from './schemas.ts';

/** A key as operators see it. Times are Unix milliseconds. Null means never. */
export type ListedKey = ReturnType<typeof toListedKey>;

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
): Promise<Page<ListedKey, string>> {
  const range = { accountId, firstId, count: BigInt(limit + 1) };
  const rows = await database.read(selectKeyPage({ firstId }), range);
  return toPage(rows, limit, (row) => toListedKey(row, nowMs));
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

function toListedKey(row: KeyRow, nowMs: number) {
  const state = readState(row, nowMs);
  const isValid = state === 'active' || state === 'rotated';
  const isBanned = isValid && (row.banned_until_ms ?? 0n) > nowMs;
  return {
    id: row.id,
    visibleStart: row.visible_start,
    name: row.name,
    account: row.account_name,
    plan: row.plan as PlanName,
    state,
    /** When the ban of a valid key ends. Null if the key is not banned. */
    bannedUntilMs: isBanned ? Number(row.banned_until_ms) : null,
    scopes: readScopes(row.scopes),
    createdAtMs: Number(row.created_at_ms),
    expiresAtMs: toMs(row.expires_at_ms),
    revokedAtMs: readRevocation(row),
    /** Rounded down to the minute. */
    lastUsedAtMs: toMs(row.last_used_at_ms),
  };
}

/** Converts a key that is not revoked into a key as partners see it. */
export function toPartnerKey(key: ListedKey): PartnerKey {
  return {
    id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    expiresAt: toTime(key.expiresAtMs),
    start: key.visibleStart,
    state: key.state === 'revoked' ? 'expired' : key.state,
    createdAt: new Date(key.createdAtMs).toISOString(),
    lastUsedAt: toTime(key.lastUsedAtMs),
  };
}
