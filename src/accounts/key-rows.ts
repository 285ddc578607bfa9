import { type QueryCreator, sql } from 'kysely';
import { defineTransaction, type Steps, statement, step } from '../storage/database.ts';
import type { NamedEntries } from '../storage/row-buffer.ts';
import type { Tables } from '../storage/tables.ts';

/** True for keys that are not revoked. In a rotated key, `revoked_at_ms` equals `expires_at_ms` (key-state.ts). */
const isNotRevoked = sql<boolean>`(revoked_at_ms is null or revoked_at_ms = expires_at_ms)`;

/**
 * Inserts a key. The row has the hash and the visible start of the key's text, never the text itself. If
 * `expiresAtMs` is null, the key never expires.
 */
export const insertApiKey = statement<{
  id: string;
  accountId: bigint;
  secretHash: Uint8Array;
  visibleStart: string;
  name: string | null;
  scopes: string;
  createdAtMs: bigint;
  expiresAtMs: bigint | null;
}>()((query, p) =>
  query.insertInto('api_keys').values({
    id: p.id,
    account_id: p.accountId,
    secret_hash: p.secretHash,
    visible_start: p.visibleStart,
    name: p.name,
    scopes: p.scopes,
    created_at_ms: p.createdAtMs,
    expires_at_ms: p.expiresAtMs,
  }),
);

/** Selects a key and its account by the hash of the key's text. Authentication needs no other query. */
export const selectKeyBySecret = statement<{ secretHash: Uint8Array }>()((query, p) =>
  query
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .select([
      'api_keys.id as key_id',
      'api_keys.account_id',
      'api_keys.scopes',
      'api_keys.expires_at_ms',
      'api_keys.revoked_at_ms',
      'accounts.name as account_name',
      'accounts.plan',
      'accounts.per_minute',
      'accounts.per_day',
      'accounts.own_per_minute',
      'accounts.own_per_day',
      'accounts.own_until_ms',
      'accounts.suspended_at_ms',
    ])
    .where('api_keys.secret_hash', '=', p.secretHash),
);

/** Selects a key and its account by key id. */
export const selectKey = statement<{ id: string }>()((query, p) =>
  query
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .select([
      'api_keys.account_id',
      'accounts.name as account_name',
      'accounts.plan',
      'accounts.suspended_at_ms',
      'api_keys.name as key_name',
      'api_keys.scopes',
      'api_keys.created_at_ms',
      'api_keys.expires_at_ms',
      'api_keys.revoked_at_ms',
      'api_keys.last_used_at_ms',
      'api_keys.replaced_by',
      'api_keys.end_before_rotation_ms',
    ])
    .where('api_keys.id', '=', p.id),
);

/** Selects the expiry, revocation and account suspension of keys. `ids` is a JSON array of key ids. */
export const selectKeyEnds = statement<{ ids: string }>()((query, p, { listTexts }) =>
  query
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .select(['api_keys.id', 'expires_at_ms', 'revoked_at_ms', 'suspended_at_ms'])
    .where('api_keys.id', 'in', listTexts(p.ids)),
);

/** Selects the data of `GET /account` without the rate limits: the key, and the number of open holds of its account. */
export const selectStanding = statement<{ keyId: string }>()((query, p, { nowMs }) =>
  query
    .selectFrom('api_keys')
    .select(['name', 'expires_at_ms'])
    .select(({ selectFrom, fn }) =>
      selectFrom('orders')
        .select(fn.countAll<bigint>().as('count'))
        .whereRef('orders.account_id', '=', 'api_keys.account_id')
        .where('orders.closed_at_ms', 'is', null)
        .where('orders.expires_at_ms', '>', nowMs)
        .as('open_holds'),
    )
    .where('api_keys.id', '=', p.keyId),
);

const selectListed = (query: QueryCreator<Tables>) =>
  query
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .leftJoin('key_bans', 'key_bans.key_id', 'api_keys.id')
    .select([
      'api_keys.id',
      'key_bans.banned_until_ms',
      'api_keys.visible_start',
      'api_keys.name',
      'api_keys.scopes',
      'api_keys.created_at_ms',
      'api_keys.expires_at_ms',
      'api_keys.revoked_at_ms',
      'api_keys.last_used_at_ms',
      'accounts.name as account_name',
      'accounts.plan',
    ]);

/** Selects all keys with their accounts and bans, oldest first. Leaves out those of deleted accounts. */
export const selectKeys = statement<Record<never, never>>()((query) =>
  selectListed(query)
    .where('accounts.deleted_at_ms', 'is', null)
    .orderBy('api_keys.created_at_ms')
    .orderBy('api_keys.id'),
);

/** Selects the `count` newest keys of an account, revoked ones too, newest first. */
export const selectNewestKeys = statement<{ accountId: bigint; count: bigint }>()((query, p) =>
  selectListed(query)
    .where('api_keys.account_id', '=', p.accountId)
    .orderBy('api_keys.created_at_ms', 'desc')
    .orderBy('api_keys.id', 'desc')
    .limit(p.count),
);

const selectUnrevoked = (query: QueryCreator<Tables>, p: { accountId: bigint; count: bigint }) =>
  selectListed(query)
    .where('api_keys.account_id', '=', p.accountId)
    .where(isNotRevoked)
    .orderBy('api_keys.created_at_ms', 'desc')
    .orderBy('api_keys.id', 'desc')
    .limit(p.count);

/** Selects the `count` newest keys of an account, without revoked keys. Reads only such keys, from an index. */
export const selectUnrevokedKeys = statement<{ accountId: bigint; count: bigint }>()(selectUnrevoked);

/** Like `selectUnrevokedKeys`, but starts at the key `firstId`. */
export const selectUnrevokedKeysFrom = statement<{ accountId: bigint; firstId: string; count: bigint }>()(
  (query, p) =>
    selectUnrevoked(query, p).where(
      sql<boolean>`(api_keys.created_at_ms, api_keys.id) <= (select first.created_at_ms, first.id
        from api_keys as first where first.id = ${p.firstId})`,
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

/**
 * Sets the new expiry of a rotated key in both columns. Equal values mark the key as rotated (key-state.ts). Stores its
 * successor, and its expiry before the first rotation.
 */
export const updateKeyRotated = statement<{
  id: string;
  endsAtMs: bigint;
  replacedBy: string;
  endBeforeRotationMs: bigint | null;
}>()((query, p) =>
  query
    .updateTable('api_keys')
    .set({
      expires_at_ms: p.endsAtMs,
      revoked_at_ms: p.endsAtMs,
      replaced_by: p.replacedBy,
      end_before_rotation_ms: p.endBeforeRotationMs,
    })
    .where('id', '=', p.id),
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
