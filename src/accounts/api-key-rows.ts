import { statement } from '../storage/database.ts';

/** Adds a key: its hash and its visible start, never its text; null times mean never. */
export const insertApiKey = statement<{
  id: string;
  accountId: bigint;
  secretHash: Uint8Array;
  visibleStart: string;
  scopes: string;
  createdAtMs: bigint;
  expiresAtMs: bigint | null;
}>()((query, p) =>
  query.insertInto('api_keys').values({
    id: p.id,
    account_id: p.accountId,
    secret_hash: p.secretHash,
    visible_start: p.visibleStart,
    scopes: p.scopes,
    created_at_ms: p.createdAtMs,
    expires_at_ms: p.expiresAtMs,
  }),
);

/** The one read of a request's authentication: the key of a hash, with its account. */
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
    ])
    .where('api_keys.secret_hash', '=', p.secretHash),
);

/** The key of an id with its account, in one row or none. */
export const selectKey = statement<{ id: string }>()((query, p) =>
  query
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .select([
      'api_keys.account_id as id',
      'accounts.name',
      'accounts.plan',
      'api_keys.scopes',
      'api_keys.created_at_ms',
      'api_keys.expires_at_ms',
      'api_keys.revoked_at_ms',
    ])
    .where('api_keys.id', '=', p.id),
);

/** The ends of those keys that are there, of a JSON array of ids. */
export const selectKeyEnds = statement<{ ids: string }>()((query, p, { listTexts }) =>
  query
    .selectFrom('api_keys')
    .select(['id', 'expires_at_ms', 'revoked_at_ms'])
    .where('id', 'in', listTexts(p.ids)),
);

/** Every key with its account, in the order in which they were made. */
export const selectKeys = statement<Record<never, never>>()((query) =>
  query
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .select([
      'api_keys.id',
      'api_keys.visible_start',
      'api_keys.scopes',
      'api_keys.created_at_ms',
      'api_keys.expires_at_ms',
      'api_keys.revoked_at_ms',
      'api_keys.last_used_at_ms',
      'accounts.name as account_name',
      'accounts.plan',
    ])
    .orderBy('api_keys.created_at_ms')
    .orderBy('api_keys.id'),
);

/** Sets the end of a rotated key, in both columns (key-state.ts). */
export const updateKeyRotated = statement<{ id: string; endsAtMs: bigint }>()((query, p) =>
  query
    .updateTable('api_keys')
    .set({ expires_at_ms: p.endsAtMs, revoked_at_ms: p.endsAtMs })
    .where('id', '=', p.id),
);

/** Revokes a key that is not revoked yet; a rotated one is not. */
export const updateKeyRevoked = statement<{ id: string; revokedAtMs: bigint }>()((query, p) =>
  query
    .updateTable('api_keys')
    .set({ revoked_at_ms: p.revokedAtMs })
    .where('id', '=', p.id)
    .where(({ or, eb }) =>
      or([eb('revoked_at_ms', 'is', null), eb('revoked_at_ms', '=', eb.ref('expires_at_ms'))]),
    ),
);

/** Notes a later use of a key; of several instances, one may come late with an earlier one. */
export const updateKeyLastUse = statement<{ id: string; lastUsedAtMs: bigint }>()((query, p) =>
  query
    .updateTable('api_keys')
    .set({ last_used_at_ms: p.lastUsedAtMs })
    .where('id', '=', p.id)
    .where(({ or, eb }) =>
      or([eb('last_used_at_ms', 'is', null), eb('last_used_at_ms', '<', p.lastUsedAtMs)]),
    ),
);

/** The ids of at most `count` keys that are valid at a time and whose text does not match a pattern. */
export const selectForeignKeys = statement<{ pattern: string; nowMs: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('api_keys')
    .select('id')
    .where('visible_start', 'not like', p.pattern)
    .where(({ or, eb }) => or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', p.nowMs)]))
    .where(({ or, eb }) =>
      or([eb('revoked_at_ms', 'is', null), eb('revoked_at_ms', '=', eb.ref('expires_at_ms'))]),
    )
    .orderBy('id')
    .limit(p.count),
);
