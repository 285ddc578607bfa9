import type { Limits } from '../plans/plan.ts';
import type { Usage } from './rules/decision.ts';

/**
 * Counts requests against rate limits. Each call is atomic: of concurrent requests, exactly as many pass as the limits
 * allow. A subject names what is counted: an account, an address, or an address that reads the documentation. `nowMs` is
 * the caller's time. Shared counters use and return the time of their own clock instead.
 */
export interface Counters {
  /**
   * Counts one request in both windows of a subject, or in neither if one is full or the key is banned. A refused request
   * is a strike and may begin a ban; one of a banned key is not. `keyId` is null for an address, which is never banned.
   */
  take(subject: string, limits: Limits, keyId: string | null, nowMs: number): Usage | Promise<Usage>;

  /** Returns the usage of a subject. Counts nothing. The verdict is always `passed`. */
  look(subject: string, nowMs: number): Usage | Promise<Usage>;

  /**
   * Forgets the strikes and bans of an account's key that began at `atMs` or before, which ends such a ban. Returns false
   * if the shared counters are out of reach, so that the lift must be applied again.
   */
  lift(subject: string, keyId: string, atMs: number): boolean | Promise<boolean>;

  /** Closes the windows of an account that began at `atMs` or before. Returns false as `lift` does. */
  reset(subject: string, atMs: number): boolean | Promise<boolean>;
}

/** Maximum number of addresses with counts, and of readers. Beyond, the one seen longest ago is forgotten. */
export const addressesMax = 100_000;

/** Returns the usage of an account by its subject. Counts nothing. */
export type LookAtUsage = (subject: string) => Promise<Usage>;
