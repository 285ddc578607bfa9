import { type QueryCreator, sql } from 'kysely';
import {
  byFilters,
  defineTransaction,
  type RowOf,
  type Steps,
  statement,
  step,
} from '../storage/database.ts';
import { insertRow, pick } from '../storage/insert-row.ts';
import type { NamedEntries } from '../storage/row-buffer.ts';
import type { Tables } from '../storage/tables.ts';

/** True for keys that are not revoked. In a rotated key, `revoked_at_ms` equals `expires_at_ms` (key-state.ts). */
const isNotRevoked = sql<boolean>`(revoked_at_ms is null or revoked_at_ms = expires_at_ms)`;

/**
 * Inserts a key. The row has the hash and the visible start of the key's text, never the text itself. If
 * `expires_at_ms` is null, the key never expires.
 */
export const insertApiKey = insertRow('api_keys', [
  ...(['id', 'account_id', 'secret_hash', 'visible_start'] as const),
  ...(['name', 'scopes', 'created_at_ms', 'expires_at_ms'] as const),
]);

/** Selects keys, each with its account and its ban. */
const selectKeyRows = (query: QueryCreator<Tables>) =>
  query
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .leftJoin('key_bans', 'key_bans.key_id', 'api_keys.id')
    .select([
      'api_keys.id',
      'api_keys.account_id',
      'api_keys.visible_start',
      'api_keys.name',
      'api_keys.scopes',
      'api_keys.created_at_ms',
      'api_keys.expires_at_ms',
      'api_keys.revoked_at_ms',
      'api_keys.last_used_at_ms',
      'api_keys.replaced_by',
      'api_keys.end_before_rotation_ms',
      'key_bans.banned_until_ms',
      'accounts.name as account_name',
      'accounts.plan',
      'accounts.per_minute',
      'accounts.per_day',
      'accounts.own_per_minute',
      'accounts.own_per_day',
      'accounts.own_until_ms',
      'accounts.suspended_at_ms',
    ]);

/** A key with its account and its ban. */
export type KeyRow = RowOf<typeof selectKey>;

/** Selects a key by the hash of its text. Authentication needs no other query. */
export const selectKeyBySecret = statement<{ secretHash: Uint8Array }>()((query, p) =>
  selectKeyRows(query).where('api_keys.secret_hash', '=', p.secretHash),
);

/** Selects a key by its id. */
export const selectKey = statement<{ id: string }>()((query, p) =>
  selectKeyRows(query).where('api_keys.id', '=', p.id),
);

/** Selects keys by their ids. `ids` is a JSON array. */
export const selectNamedKeys = statement<{ ids: string }>()((query, p, { listTexts }) =>
  selectKeyRows(query).where('api_keys.id', 'in', listTexts(p.ids)),
);

/**
 * The statement that selects the `count` newest keys of one or all accounts, revoked ones too, newest first. Leaves out
 * those of deleted accounts.
 */
export const selectNewestKeys = byFilters((isSet: (name: 'accountId') => boolean) =>
  statement<{ accountId: bigint | null; count: bigint }>()((query, p) =>
    selectKeyRows(query)
      .where('accounts.deleted_at_ms', 'is', null)
      .$if(isSet('accountId'), (narrowed) => narrowed.where('api_keys.account_id', '=', p.accountId))
      .orderBy('api_keys.created_at_ms', 'desc')
      .orderBy('api_keys.id', 'desc')
      .limit(p.count),
  ),
);

/**
 * The statement that selects the `count` newest keys of an account, without revoked keys, from the key `firstId` on.
 * Reads only such keys, from an index.
 */
export const selectKeyPage = byFilters((isSet: (name: 'firstId') => boolean) =>
  statement<{ accountId: bigint; firstId: string | null; count: bigint }>()((query, p) =>
    selectKeyRows(query)
      .where('api_keys.account_id', '=', p.accountId)
      .where(isNotRevoked)
      .$if(isSet('firstId'), (narrowed) =>
        narrowed.where(
          sql<boolean>`(api_keys.created_at_ms, api_keys.id) <= (select first.created_at_ms, first.id
            from api_keys as first where first.id = ${p.firstId})`,
        ),
      )
      .orderBy('api_keys.created_at_ms', 'desc')
      .orderBy('api_keys.id', 'desc')
      .limit(p.count),
  ),
);

/**
 * Counts the keys of an account that are neither rotated, revoked nor expired. The two parts read only such keys, from
 * an index.
 */
export const countActiveKeys = statement<{ accountId: bigint; nowMs: bigint }>()((query, p) => {
  const notRotated = query
    .selectFrom('api_keys')
    .select('id')
    .where('account_id', '=', p.accountId)
    .where('revoked_at_ms', 'is', null);
  const endless = notRotated.where('expires_at_ms', 'is', null);
  return query
    .selectFrom(endless.unionAll(notRotated.where('expires_at_ms', '>', p.nowMs)).as('active'))
    .select(({ fn }) => fn.countAll<bigint>().as('count'));
});

const rotatedColumns = ['expires_at_ms', 'revoked_at_ms', 'replaced_by', 'end_before_rotation_ms'] as const;

/**
 * Stores the end of a rotated key in both columns, because equal values mark it as rotated (key-state.ts). Stores its
 * successor, and its expiry before the first rotation.
 */
export const updateKeyRotated = statement<Pick<KeyRow, 'id' | (typeof rotatedColumns)[number]>>()(
  (query, p) => query.updateTable('api_keys').set(pick(p, rotatedColumns)).where('id', '=', p.id),
);

/**
 * Revokes a key. Does nothing if the key is already revoked. A rotated key is not a revoked key. A key that is revoked
 * in the millisecond of its expiry gets the next millisecond, because equal values would mark it as rotated.
 */
export const updateKeyRevoked = statement<{ id: string; revokedAtMs: bigint }>()((query, p) =>
  revoke(query, p).where('id', '=', p.id),
);

/** Revokes all keys of an account, in the same way. Returns their ids. */
export const updateKeysRevoked = statement<{ accountId: bigint; revokedAtMs: bigint }>()((query, p) =>
  revoke(query, p).where('account_id', '=', p.accountId).returning('id'),
);

function revoke(query: QueryCreator<Tables>, { revokedAtMs }: { revokedAtMs: bigint }) {
  return query
    .updateTable('api_keys')
    .set({
      revoked_at_ms: sql<bigint>`case expires_at_ms when ${revokedAtMs} then expires_at_ms + 1
        else ${revokedAtMs} end`,
    })
    .where(isNotRevoked);
}

/** Stores the time of a key's last use, unless a later time is stored. Instances may write out of order. */
const updateKeyLastUse = statement<{ id: string; lastUsedAtMs: bigint }>()((query, p) =>
  query
    .updateTable('api_keys')
    .set({ last_used_at_ms: p.lastUsedAtMs })
    .where('id', '=', p.id)
    .where(({ or, eb }) =>
      or([eb('last_used_at_ms', 'is', null), eb('last_used_at_ms', '<', p.lastUsedAtMs)]),
    ),
);

/** Writes when keys were last used, in Unix milliseconds by key id. */
export const writeUses = defineTransaction('writeUses', function* (uses: NamedEntries<number>): Steps<void> {
  for (const [id, usedAtMs] of uses) yield* step(updateKeyLastUse, { id, lastUsedAtMs: BigInt(usedAtMs) });
});

/** Selects the ids of at most `count` keys that are valid at `nowMs` and do not match `pattern` (SQL LIKE). */
export const selectForeignKeys = statement<{ pattern: string; nowMs: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('api_keys')
    .select('id')
    .where('visible_start', 'not like', p.pattern)
    .where(({ or, eb }) => or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', p.nowMs)]))
    .where(isNotRevoked)
    .orderBy('id')
    .limit(p.count),
);

/** Selects the ids of at most `count` keys. Used to check whether any key exists. */
export const selectAnyKey = statement<{ count: bigint }>()((query, p) =>
  query.selectFrom('api_keys').select('id').limit(p.count),
);
