import { type QueryCreator, sql } from 'kysely';
import type { PlanName } from '../plans/plan.ts';
import {
  byFilters,
  lastStep,
  type RowOf,
  type Steps,
  statement,
  together,
  transaction,
} from '../storage/database.ts';
import { erase } from '../storage/erase.ts';
import { insertRow, pick } from '../storage/insert-row.ts';
import type { NamedEntries } from '../storage/row-buffer.ts';
import type { Tables } from '../storage/tables.ts';
import { findByStart } from '../storage/text-start.ts';
import { type Scope, scopes } from './account.ts';
import { limitColumns } from './account-rows.ts';
import type { KeyEnvironment } from './api-key.ts';
import { readState } from './key-state.ts';

/** Inserts a key: the hash and the visible start of its text, never the text itself. With a null expiry, it never expires. */
export const insertApiKey = insertRow('api_keys', [
  'id',
  'account_id',
  'secret_hash',
  'visible_start',
  'name',
  'scopes',
  'created_at_ms',
  'expires_at_ms',
]);

const selectKeyRows = (query: QueryCreator<Tables>) =>
  query
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .leftJoin('key_bans', 'key_bans.key_id', 'api_keys.id')
    .select(['api_keys.id', 'account_id', 'visible_start', 'api_keys.name', 'scopes', 'last_used_at_ms'])
    .select(['api_keys.created_at_ms', 'expires_at_ms', 'revoked_at_ms'])
    .select(['replaced_by', 'end_before_rotation_ms', 'key_bans.banned_until_ms'])
    .select(['accounts.name as account_name', 'suspended_at_ms', ...limitColumns]);

/** True for keys that are not revoked (see `isRotated`). */
const isNotRevoked = sql<boolean>`(revoked_at_ms is null or revoked_at_ms = expires_at_ms)`;

/** A key with its account and its ban. */
export type KeyRow = RowOf<typeof selectKey>;

/** Selects a key by the hash of its text. Authentication needs no other query. */
export const selectKeyBySecret = statement((query, p: { secretHash: Uint8Array }) =>
  selectKeyRows(query).where('api_keys.secret_hash', '=', p.secretHash),
);

/** Selects a key by its id. */
export const selectKey = statement((query, p: { id: string }) =>
  selectKeyRows(query).where('api_keys.id', '=', p.id),
);

/** Selects keys by their ids. `ids` is a JSON array. */
export const selectNamedKeys = statement((query, p: { ids: string }, { isAmong }) =>
  selectKeyRows(query).where(isAmong('api_keys.id', p.ids, 'text')),
);

/** Declares a statement that selects `count` keys of which the text in a column begins with `start`, in any case. */
const declareStart = (column: 'api_keys.name' | 'visible_start') =>
  statement((query, p: { start: string; count: bigint }, { engine }) => {
    const { where, orderBy } = findByStart(engine, column, p.start);
    return selectKeyRows(query)
      .where(where)
      .where(column, 'is not', null)
      .orderBy(orderBy)
      .orderBy('api_keys.id')
      .limit(p.count);
  });

/** Selects keys by the start of their names. */
export const selectKeysByName = declareStart('api_keys.name');
/** Selects keys by the start of their texts, of which the store has only the part that may be shown. */
export const selectKeysByText = declareStart('visible_start');

/**
 * Selects the `count` newest keys of one account or of all, newest first, from the key `firstId` on if it is given. If
 * `isCurrent`, leaves out the revoked ones, and reads only the others, from an index.
 */
export const selectKeys = byFilters(['accountId', 'isCurrent', 'firstId'], (query, p: KeyFilter, set) =>
  selectKeyRows(query)
    .where('accounts.deleted_at_ms', 'is', null)
    .$if(set.accountId, (rows) => rows.where('api_keys.account_id', '=', p.accountId))
    .$if(set.isCurrent, (rows) => rows.where(isNotRevoked))
    .$if(set.firstId, (rows) =>
      rows.where(
        sql<boolean>`(api_keys.created_at_ms, api_keys.id) <= (select first.created_at_ms, first.id
            from api_keys as first where first.id = ${p.firstId})`,
      ),
    )
    .orderBy('api_keys.created_at_ms', 'desc')
    .orderBy('api_keys.id', 'desc')
    .limit(p.count),
);

/** `isCurrent` is 1n or null. Its value is no part of the statement. */
type KeyFilter = { accountId: bigint; firstId: string; isCurrent: 1n; count: bigint };

/**
 * Counts the keys of an account that are neither rotated, revoked nor expired. Reads only such keys, from an index: each part
 * of the union is one range of it.
 */
export const countActiveKeys = statement((query, p: { accountId: bigint; nowMs: bigint }) => {
  const notRotated = query
    .selectFrom('api_keys')
    .select('id')
    .where('account_id', '=', p.accountId)
    .where('revoked_at_ms', 'is', null);
  const endless = notRotated.where('expires_at_ms', 'is', null);
  const unexpired = notRotated.where('expires_at_ms', '>', p.nowMs);
  return query
    .selectFrom(endless.unionAll(unexpired).as('active'))
    .select(({ fn }) => fn.countAll<bigint>().as('count'));
});

const rotatedColumns = ['expires_at_ms', 'revoked_at_ms', 'replaced_by', 'end_before_rotation_ms'] as const;

/** Stores the end of a rotated key (see `isRotated`), its successor, and its expiry before the first rotation. */
export const updateKeyRotated = statement((query, p: Pick<KeyRow, 'id' | (typeof rotatedColumns)[number]>) =>
  query.updateTable('api_keys').set(pick(p, rotatedColumns)).where('id', '=', p.id),
);

/**
 * Revokes keys and returns the ids of those that were not revoked. A key that is revoked in the millisecond of its expiry
 * gets the next millisecond, because equal values would mark it as rotated. The caller adds which keys.
 */
const revoke = (query: QueryCreator<Tables>, nowMs: bigint) =>
  query
    .updateTable('api_keys')
    .set({
      revoked_at_ms: sql<bigint>`case expires_at_ms when ${nowMs} then expires_at_ms + 1 else ${nowMs} end`,
    })
    .where(isNotRevoked)
    .returning('id');

/** Revokes one key (see `revoke`). */
export const revokeOneKey = statement((query, p: { id: string; nowMs: bigint }) =>
  revoke(query, p.nowMs).where('id', '=', p.id),
);

/** Revokes all keys of an account (see `revoke`). */
export const revokeKeysOfAccount = statement((query, p: { accountId: bigint; nowMs: bigint }) =>
  revoke(query, p.nowMs).where('account_id', '=', p.accountId),
);

/** Stores the time of a key's last use, unless a later time is stored. Instances may write out of order. */
const updateKeyLastUse = statement((query, p: { id: string; lastUsedAtMs: bigint }) =>
  query
    .updateTable('api_keys')
    .set({ last_used_at_ms: p.lastUsedAtMs })
    .where('id', '=', p.id)
    .where(sql<boolean>`(last_used_at_ms is null or last_used_at_ms < ${p.lastUsedAtMs})`),
);

/**
 * Writes when keys were last used, in Unix milliseconds by key id. The entries come in the order of their ids, so that two
 * instances lock the rows in the same order and do not deadlock.
 */
export const writeUses = transaction(
  'writeUses',
  'row locks',
  function* (uses: NamedEntries<number>): Steps<void> {
    const steps = uses.map(([id, usedAtMs]) => {
      const lastUsedAtMs = BigInt(usedAtMs);
      return lastStep(updateKeyLastUse, { id, lastUsedAtMs });
    });
    yield* together(...steps);
  },
);

/** The parameters of `selectForeignKeys`. The `_` of LIKE stands for any character, but all keys have theirs in the same places. */
export function toForeignKeys(environment: KeyEnvironment, nowMs: number, count: number) {
  return { pattern: `as_${environment}_%`, nowMs: BigInt(nowMs), count: BigInt(count) };
}

/** Selects the ids of at most `count` keys that are valid at `nowMs` and do not match `pattern` (SQL LIKE). */
export const selectForeignKeys = statement((query, p: { pattern: string; nowMs: bigint; count: bigint }) =>
  query
    .selectFrom('api_keys')
    .select('id')
    .where('visible_start', 'not like', p.pattern)
    .where(sql<boolean>`(expires_at_ms is null or expires_at_ms > ${p.nowMs})`)
    .where(isNotRevoked)
    .orderBy('id')
    .limit(p.count),
);

/** Selects the ids of at most `count` keys. Used to check whether any key exists. */
export const selectAnyKey = statement((query, p: { count: bigint }) =>
  query.selectFrom('api_keys').select('id').limit(p.count),
);

/** Parses stored scopes, separated by spaces, into the order of `scopes`. Ignores unknown names. */
export function readScopes(stored: string): readonly Scope[] {
  const names = stored.split(' ');
  return scopes.filter((scope) => names.includes(scope));
}

/** Converts a time of a row. Null stays null. */
export const toMs = (ms: bigint | null): number | null => (ms === null ? null : Number(ms));

/** A key as operators see it. Times are Unix milliseconds. Null means never. */
export type ListedKey = ReturnType<typeof toListedKey>;

/** Converts a row into a key at `nowMs`. */
export function toListedKey(row: KeyRow, nowMs: number) {
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
    revokedAtMs: state === 'revoked' ? Number(row.revoked_at_ms) : null,
    /** Rounded down to the minute. */
    lastUsedAtMs: toMs(row.last_used_at_ms),
  };
}

/** Erases the names of the keys of a deleted account. */
export const eraseKeyNames = erase(
  'api_keys',
  (p) => sql`account_id = ${p.accountId} and name is not null`,
  () => ({ name: sql`null` }),
);
