import { statement } from '../storage/database.ts';

/** The bans that end after a time, each with its key and account, in the order of their ends. */
export const selectBans = statement<{ nowMs: bigint; count: bigint }>()((query, p) =>
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
    .orderBy('key_bans.banned_until_ms')
    .orderBy('key_bans.key_id')
    .limit(p.count),
);

/** The ends of the bans of given keys, for those that are banned at a time. `ids` is a JSON array. */
export const selectBansOf = statement<{ ids: string; nowMs: bigint }>()((query, p, { listTexts }) =>
  query
    .selectFrom('key_bans')
    .select(['key_id', 'banned_until_ms'])
    .where('key_id', 'in', listTexts(p.ids))
    .where('banned_until_ms', '>', p.nowMs),
);

/** A key with the end of its newest ban. The end is null if the key has neither a ban nor strikes. */
export const selectBan = statement<{ keyId: string }>()((query, p) =>
  query
    .selectFrom('api_keys')
    .leftJoin('key_bans', 'key_bans.key_id', 'api_keys.id')
    .select(['api_keys.account_id', 'key_bans.banned_until_ms'])
    .where('api_keys.id', '=', p.keyId),
);

/** Deletes the ban and the strikes of a key. */
export const deleteBan = statement<{ keyId: string }>()((query, p) =>
  query.deleteFrom('key_bans').where('key_id', '=', p.keyId),
);

/** Requests that every running service lifts the ban of a key. */
export const insertLift = statement<{ keyId: string; accountId: bigint; atMs: bigint }>()((query, p) =>
  query.insertInto('ban_lifts').values({ key_id: p.keyId, account_id: p.accountId, at_ms: p.atMs }),
);

/** The lifts that are stored, in the order of their requests. */
export const selectLifts = statement<Record<never, never>>()((query) =>
  query.selectFrom('ban_lifts').select(['id', 'key_id', 'account_id']).orderBy('id'),
);

/** Deletes the lifts up to a time. The bans that they could end are over. */
export const deleteLifts = statement<{ untilMs: bigint }>()((query, p) =>
  query.deleteFrom('ban_lifts').where('at_ms', '<=', p.untilMs),
);
