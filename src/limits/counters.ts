import type { Limits } from '../plans/plan.ts';
import type { Soon } from '../soon.ts';
import type { Usage } from './rules/decision.ts';

/**
 * Counts requests against limits and holds the refused ones against their keys. Each call is one atomic step, under
 * any concurrency: of requests that come at once exactly as many pass as there is room for.
 *
 * A subject is whoever is counted, as text: an account, an address, or an address that reads the documentation. `nowMs` is the caller's time; counters that are
 * shared go by a clock of their own, and tell it in the answer.
 */
export interface Counters {
  /**
   * Counts one request for a subject in both windows, or in neither if one is full or the key is banned. A refused
   * request of a key is a strike against it and may begin a ban; one of a banned key changes nothing. `keyId` null: a
   * subject without a key, which is never banned. A bounded number of addresses and one of readers have counts of their
   * own. When all are taken, the one whose day opened first makes room, if that was an hour ago; until then newcomers
   * share one count, which holds for a minute.
   */
  take(subject: string, limits: Limits, keyId: string | null, nowMs: number): Soon<Usage>;

  /** How a subject without a key stands, with nothing counted; the verdict is `passed`, however full it is. */
  peek(subject: string, nowMs: number): Soon<Usage>;
}
