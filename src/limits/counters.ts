import type { Limits } from '../plans/plan.ts';
import type { Soon } from '../soon.ts';
import type { Usage } from './rules/decision.ts';

/**
 * Counts requests against rate limits. A refused request counts as a strike against its key. Each call is atomic: of
 * concurrent requests, exactly as many pass as the limits allow.
 *
 * A subject is a text that names what is counted: an account, an address, or an address that reads the documentation.
 * `nowMs` is the caller's time. Shared counters use their own clock instead, and return the time of this clock.
 */
export interface Counters {
  /**
   * Counts one request in both windows of a subject. If a window is full or the key is banned, counts it in neither.
   * A refused request is a strike and may begin a ban. A request of a banned key changes nothing. `keyId` is null for
   * a subject without a key, which is never banned.
   *
   * At most a fixed number of addresses have their own counts. Documentation requests have a separate maximum. If all
   * places are taken, a new address replaces the address whose day window opened first, provided that this was at
   * least an hour ago. Otherwise all new addresses share one count, which resets after a minute.
   */
  take(subject: string, limits: Limits, keyId: string | null, nowMs: number): Soon<Usage>;

  /** Returns the usage of a subject without a key. Counts nothing. The verdict is always `passed`. */
  peek(subject: string, nowMs: number): Soon<Usage>;

  /** Returns the usage of an account. Counts nothing. The verdict is always `passed`. */
  look(subject: string, nowMs: number): Soon<Usage>;

  /**
   * Ends the ban of an account's key, and forgets the strikes and earlier bans of the key. `atMs` is the time of the
   * lift. A ban that began after this time stays, so that the same lift may be applied again.
   */
  lift(subject: string, keyId: string, atMs: number): Soon<unknown>;
}
