import type { Limits } from '../plans/plan.ts';
import type { Soon } from '../soon.ts';
import type { Usage } from './rules/decision.ts';

/**
 * Counts requests against limits, and refused requests as strikes against their keys. Each call is atomic: of
 * concurrent requests exactly as many pass as there is room for.
 *
 * A subject is the text that names who is counted: an account, an address, or an address that reads the
 * documentation. `nowMs` is the caller's time. Shared counters use their own clock and return its time.
 */
export interface Counters {
  /**
   * Counts one request of a subject in both windows, or in neither if one is full or the key is banned. A refused
   * request of a key is a strike and may begin a ban. A request of a banned key changes nothing. `keyId` is null for
   * a subject without a key, which is never banned.
   *
   * A bounded number of addresses, and of readers, have counts of their own. When all places are taken, the address
   * whose day opened first gives up its place, if that was an hour ago. Until then new addresses share one count,
   * which lasts a minute.
   */
  take(subject: string, limits: Limits, keyId: string | null, nowMs: number): Soon<Usage>;

  /** The usage of a subject without a key. Counts nothing; the verdict is always `passed`. */
  peek(subject: string, nowMs: number): Soon<Usage>;

  /** The usage of an account. Counts nothing; the verdict is always `passed`. */
  look(subject: string, nowMs: number): Soon<Usage>;

  /** Ends the ban of an account's key, and forgets its strikes and earlier bans. */
  lift(subject: string, keyId: string): Soon<void>;
}
