import { sql } from 'kysely';
import { type Actor, type Authorship, addAuditEntry, commandActor } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import { type Database, type RowOf, type Steps, statement, step, transaction } from '../storage/database.ts';
import type { Page } from '../storage/read-page.ts';
import { insertLift } from './corrections.ts';

/** A ban as operators see it. Times are Unix milliseconds. `rules/bans.ts` says when a ban begins and ends. */
export type ListedBan = ReturnType<typeof toListed>;

/** The place of a ban in the list. */
export type BanPlace = Pick<ListedBan, 'endsAtMs' | 'keyId'>;

const listedBansMax = 10_000;

type Lift = { readonly keyId: string; readonly by: Authorship };

/** Ends the ban of a key, and forgets its strikes and earlier bans. */
export const liftBan = transaction('liftBan', 'serializable', function* ({ keyId, by }: Lift): Steps<void> {
  const [found] = yield* step(selectBan, { keyId });
  if (found === undefined) throw new OperatorError(`there is no key "${keyId}": "keys list" shows all keys`);
  const { account_id: accountId, last_ban_at_ms: banAtMs, banned_until_ms: untilMs } = found;
  if (banAtMs === null || untilMs === null || untilMs <= by.nowMs)
    throw new OperatorError(`the key "${keyId}" is not banned: "bans list" shows all banned keys`);
  yield* step(deleteBan, { keyId });
  // The clock that counts may be ahead of this clock. The lift must not be earlier than the ban.
  const atMs = BigInt(Math.max(by.nowMs, Number(banAtMs)));
  yield* step(insertLift, { key_id: keyId, account_id: accountId, at_ms: atMs });
  const before = { bannedUntil: new Date(Number(untilMs)).toISOString() };
  yield* addAuditEntry(by, 'ban.lifted', keyId, { accountId, before });
});

/** The bans of a store, for operators. The audit log names `actor` as the author of each lift. */
export function createBans(database: Database, clock: Clock, actor: Actor = commandActor()) {
  async function listPage(limit: number, { endsAtMs, keyId }: BanPlace): Promise<Page<ListedBan, BanPlace>> {
    const range = { endsAtMs: BigInt(endsAtMs), keyId, count: BigInt(limit) + 1n };
    const rows = await database.read(selectBans, { nowMs: BigInt(clock()), ...range });
    const bans = rows.map(toListed);
    return { items: bans.slice(0, limit), next: bans[limit] ?? null };
  }

  return {
    /** Returns the current bans, ordered by expiry, at most `listedBansMax`. Shows a new ban within 1 s. */
    list: async () => (await listPage(listedBansMax, { endsAtMs: 0, keyId: '' })).items,
    /** Returns at most `limit` of the current bans, ordered by expiry, from a place on. */
    listPage,
    /** Every running service applies this within 2 s. Throws OperatorError if the key does not exist or is not banned. */
    lift: (keyId: string) => database.transact(liftBan, { keyId, by: { actor, nowMs: clock() } }),
  };
}

function toListed(row: RowOf<typeof selectBans>) {
  return {
    keyId: row.key_id,
    visibleStart: row.visible_start,
    keyName: row.key_name,
    account: row.account_name,
    beganAtMs: Number(row.last_ban_at_ms),
    endsAtMs: Number(row.banned_until_ms),
  };
}

/** Selects the bans that expire after `nowMs`, in the order of expiry and key id, from `endsAtMs` and `keyId` on. */
const selectBans = statement((query, p: { nowMs: bigint; endsAtMs: bigint; keyId: string; count: bigint }) =>
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
    .where(sql<boolean>`(key_bans.banned_until_ms, key_bans.key_id) >= (${p.endsAtMs}, ${p.keyId})`)
    .orderBy('key_bans.banned_until_ms')
    .orderBy('key_bans.key_id')
    .limit(p.count),
);

/** Selects a key with its newest ban. The times of the ban are null if the key has no ban and no strikes. */
const selectBan = statement((query, p: { keyId: string }) =>
  query
    .selectFrom('api_keys')
    .leftJoin('key_bans', 'key_bans.key_id', 'api_keys.id')
    .select(['api_keys.account_id', 'key_bans.last_ban_at_ms', 'key_bans.banned_until_ms'])
    .where('api_keys.id', '=', p.keyId),
);

const deleteBan = statement((query, p: { keyId: string }) =>
  query.deleteFrom('key_bans').where('key_id', '=', p.keyId),
);
