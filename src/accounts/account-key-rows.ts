import { type RawBuilder, sql } from 'kysely';
import { statement } from '../storage/database.ts';

/** Excludes revoked keys. In a rotated key, `revoked_at_ms` equals `expires_at_ms` (key-state.ts). */
const isNotRevoked = sql<boolean>`(revoked_at_ms is null or revoked_at_ms = expires_at_ms)`;

const listedColumns = [
  'id',
  'visible_start',
  'name',
  'scopes',
  'created_at_ms',
  'expires_at_ms',
  'revoked_at_ms',
  'last_used_at_ms',
] as const;

/** Selects the `count` newest keys of an account, without revoked keys. */
export const selectNewestAccountKeys = statement<{ accountId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('api_keys')
    .select(listedColumns)
    .where('account_id', '=', p.accountId)
    .where(isNotRevoked)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(p.count),
);

/** Like `selectNewestAccountKeys`, but starts at the key `firstId`. */
export const selectAccountKeysFrom = statement<{ accountId: bigint; firstId: string; count: bigint }>()(
  (query, p) =>
    query
      .selectFrom('api_keys')
      .select(listedColumns)
      .where('account_id', '=', p.accountId)
      .where(isNotRevoked)
      .where(isFrom(sql`${p.firstId}`))
      .orderBy('created_at_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(p.count),
);

function isFrom(firstId: RawBuilder<unknown>) {
  return sql<boolean>`(created_at_ms, id) <= (select first.created_at_ms, first.id from api_keys as first
    where first.id = ${firstId})`;
}

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
