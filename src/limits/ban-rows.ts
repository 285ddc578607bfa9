import { statement } from '../storage/database.ts';

/**
 * Selects at most `count` bans that expire after `nowMs`, each with its key and account. The order is by expiry and key
 * id, and starts at `endsAtMs` and `keyId`.
 */
export const selectBans = statement<{ nowMs: bigint; endsAtMs: bigint; keyId: string; count: bigint }>()(
  (query, p) =>
    query
      .selectFrom('key_bans')
      .innerJoin('api_keys', 'api_keys.id', 'key_bans.key_id')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .select([
        'key_bans.key_id',
        'api_keys.visible_start',
        'api_keys.name as key_name',
        'accounts.name as account_name',
        'key_bans.last_ban_at_ms',
        'key_bans.banned_until_ms',
      ])
      .where('key_bans.banned_until_ms', '>', p.nowMs)
      .where(({ eb, refTuple, tuple }) =>
        eb(
          refTuple('key_bans.banned_until_ms', 'key_bans.key_id'),
          '>=',
          tuple(p.endsAtMs as never, p.keyId as never),
        ),
      )
      .orderBy('key_bans.banned_until_ms')
      .orderBy('key_bans.key_id')
      .limit(p.count),
);

/** Selects a key with its newest ban. The times of the ban are null if the key has no ban and no strikes. */
export const selectBan = statement<{ keyId: string }>()((query, p) =>
  query
    .selectFrom('api_keys')
    .leftJoin('key_bans', 'key_bans.key_id', 'api_keys.id')
    .select(['api_keys.account_id', 'key_bans.last_ban_at_ms', 'key_bans.banned_until_ms'])
    .where('api_keys.id', '=', p.keyId),
);

/** Deletes the stored ban and strikes of a key. */
export const deleteBan = statement<{ keyId: string }>()((query, p) =>
  query.deleteFrom('key_bans').where('key_id', '=', p.keyId),
);
