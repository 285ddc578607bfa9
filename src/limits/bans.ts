import type { Actor, Authorship } from '../audit/audit-entry.ts';
import { commandActor } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import type { Page } from '../page.ts';
import { type Database, defineTransaction, type Steps, step } from '../storage/database.ts';
import { deleteBan, selectBan, selectBans } from './ban-rows.ts';
import { insertLift } from './corrections.ts';

/** A ban as operators see it. Times are Unix milliseconds. */
export interface ListedBan {
  readonly keyId: string;
  readonly visibleStart: string;
  readonly keyName: string | null;
  readonly account: string;
  readonly beganAtMs: number;
  readonly endsAtMs: number;
}

/** The place of a ban in the list. */
export type BanPlace = Pick<ListedBan, 'endsAtMs' | 'keyId'>;

/** Maximum number of bans that `list` returns. */
const listedBansMax = 10_000;

interface LiftBan {
  readonly keyId: string;
  readonly by: Authorship;
}

/** Lifts the ban of a key. Throws OperatorError if the key does not exist or is not banned. */
export const liftBan = defineTransaction('liftBan', function* ({ keyId, by }: LiftBan): Steps<void> {
  const [found] = yield* step(selectBan, { keyId });
  if (found === undefined) throw new OperatorError(`there is no key "${keyId}": "keys list" shows all keys`);
  const { account_id: accountId, last_ban_at_ms: banAtMs, banned_until_ms: untilMs } = found;
  if (banAtMs === null || untilMs === null || untilMs <= by.nowMs)
    throw new OperatorError(`the key "${keyId}" is not banned: "bans list" shows all banned keys`);
  yield* step(deleteBan, { keyId });
  // The clock that counts may be ahead of this clock. The lift must not be earlier than the ban.
  const atMs = BigInt(Math.max(by.nowMs, Number(banAtMs)));
  yield* step(insertLift, { key_id: keyId, account_id: accountId, at_ms: atMs });
  yield* addAuditEntry(by, {
    action: 'ban.lifted',
    subject: keyId,
    accountId,
    before: { bannedUntil: new Date(Number(untilMs)).toISOString() },
    after: null,
  });
});

/** Manages the bans of keys, for operators. */
export type Bans = ReturnType<typeof createBans>;

/** Creates the ban management of a store. The audit log names `actor` as the author of each change. */
export function createBans(database: Database, clock: Clock, actor: Actor = commandActor()) {
  async function listPage(limit: number, { endsAtMs, keyId }: BanPlace): Promise<Page<ListedBan, BanPlace>> {
    const range = { endsAtMs: BigInt(endsAtMs), keyId, count: BigInt(limit) + 1n };
    const rows = await database.read(selectBans, { nowMs: BigInt(clock()), ...range });
    const bans = rows.map((row) => ({
      keyId: row.key_id,
      visibleStart: row.visible_start,
      keyName: row.key_name,
      account: row.account_name,
      beganAtMs: Number(row.last_ban_at_ms),
      endsAtMs: Number(row.banned_until_ms),
    }));
    return { items: bans.slice(0, limit), next: bans[limit] ?? null };
  }

  return {
    /** Returns the current bans, ordered by expiry, at most `listedBansMax`. Shows a new ban within 1 s. */
    list: async () => (await listPage(listedBansMax, { endsAtMs: 0, keyId: '' })).items,
    /** Returns at most `limit` of the current bans, ordered by expiry, from a place on. */
    listPage,
    /**
     * Ends the ban of a key, and forgets its strikes and earlier bans. Every running service applies this within 2 s.
     * Throws OperatorError if the key does not exist or is not banned.
     */
    lift: (keyId: string) => database.transact(liftBan, { keyId, by: { actor, nowMs: clock() } }),
  };
}
