import { crc32 } from 'node:zlib';
import type { Limits } from '../../plans/plan.ts';
import type { Counters } from '../counters.ts';
import { addressesMax } from '../memory/memory-counters.ts';
import { isReader } from '../rules/address.ts';
import type { Usage } from '../rules/decision.ts';
import { createRedisLink } from './link.ts';
import {
  liftScript,
  lookScript,
  peekAddressScript,
  takeForAddressScript,
  takeForKeyScript,
} from './scripts.ts';
import { createTakeBatches } from './take-batches.ts';
import type { Kept } from './unsynced.ts';

/**
 * Counters that all instances share, in a single Redis or Valkey server or in a cluster. A call takes one round trip.
 * Requests of a key in one turn of the event loop share a round trip.
 *
 * If Redis cannot be reached, a call fails at once or within the timeouts of RedisLink. It is then unknown whether
 * the request was counted.
 */
export interface RedisCounters extends Counters {
  /**
   * `kept` is the local state of the account and its key. If Redis has no windows of the account, the kept windows
   * apply. If the kept ban expires later than the ban in Redis, and began after the last lift, the kept ban applies.
   */
  take(
    subject: string,
    limits: Limits,
    keyId: string | null,
    nowMs: number,
    kept?: Kept | null,
  ): Promise<Usage>;
  peek(subject: string, nowMs: number): Promise<Usage>;
  look(subject: string, nowMs: number): Promise<Usage>;
  /** Returns when the ban was lifted, by the clock of the counters. A copy of a ban from before is ignored. */
  lift(subject: string, keyId: string, atMs: number): Promise<number>;
  /** Connects if necessary. Fails if requests of the subject cannot be counted. Counts nothing. */
  probe(subject: string, keyId: string | null): Promise<void>;
  /** Closes the link permanently. Running calls fail. */
  close(): void;
}

/** Number of hash tags for addresses. Several tags let a cluster spread the addresses over its nodes. */
const addressParts = 16;

const unlimited = String(Number.MAX_SAFE_INTEGER);

/**
 * Creates counters in Redis.
 *
 * - `prefix` begins every key and must not contain braces. Stores that share a Redis need different prefixes.
 * - `time` selects the clock. `server` is the clock of Redis, the same for all instances. `caller` is for tests.
 * - `addressesMax` is the maximum number of addresses with their own counts, over all instances.
 *
 * The keys of an account share one hash tag, so a cluster keeps them on one node. All keys expire.
 */
export function createRedisCounters(options: {
  url: string;
  prefix?: string;
  time?: 'server' | 'caller';
  addressesMax?: number;
}): RedisCounters {
  const { url, prefix = 'animal-store:', time = 'server' } = options;
  const partMax = String(Math.ceil((options.addressesMax ?? addressesMax) / addressParts));
  const link = createRedisLink(url);
  const { tagOf, keysOfAddress, keysOfKey, liftOfKey } = createKeyNames(prefix);
  const { ownTimeMs, timeParameter, limitParameters } = createParameters(time);

  async function takeForAddress(subject: string, limits: Limits, nowMs: number): Promise<Usage> {
    const parameters = [...limitParameters(limits, nowMs), partMax];
    return toUsages(await link.run(takeForAddressScript, keysOfAddress(subject), parameters))(0);
  }

  const takeForKey = createTakeBatches(async ({ subject, limits, keyId, nowMs }, count, kept) => {
    const keys = keysOfKey(subject, keyId);
    const parameters = [...limitParameters(limits, nowMs), String(count)];
    if (kept !== null) {
      keys.push(liftOfKey(subject, keyId));
      parameters.push(formatWindows(kept.windows), formatBan(kept.conduct));
    }
    return toUsages(await link.run(takeForKeyScript, keys, parameters));
  });

  return {
    take(subject, limits, keyId, nowMs, kept = null) {
      return keyId === null
        ? takeForAddress(subject, limits, nowMs)
        : takeForKey({ subject, limits, keyId, nowMs: ownTimeMs(nowMs) }, kept);
    },

    async peek(subject, nowMs) {
      const parameters = [timeParameter(nowMs), '', '', partMax];
      return toUsages(await link.run(peekAddressScript, keysOfAddress(subject), parameters))(0);
    },

    async look(subject, nowMs) {
      await link.connect();
      return toUsages(await link.run(lookScript, keysOfKey(subject, ''), [timeParameter(nowMs)]))(0);
    },

    async lift(subject, keyId, atMs) {
      const keys = [...keysOfKey(subject, keyId), liftOfKey(subject, keyId)];
      return Number(await link.run(liftScript, keys, [timeParameter(atMs), String(atMs)]));
    },

    async probe(subject, keyId) {
      await link.connect();
      const place = `${tagOf(subject, keyId)}:probe`;
      const keys = [place, `${place}:key`, `${place}:key:strikes`];
      await link.run(takeForKeyScript, keys, ['', unlimited, unlimited, '1']);
    },

    close: link.close,
  };
}

/** Returns the time parameters of the scripts. An empty time selects the server's clock. */
function createParameters(time: 'server' | 'caller') {
  const timeParameter = (nowMs: number) => (time === 'caller' ? String(nowMs) : '');
  return {
    /** With the server's clock, the caller's time is 0, so that requests of different milliseconds share a batch. */
    ownTimeMs: (nowMs: number) => (time === 'caller' ? nowMs : 0),
    timeParameter,
    limitParameters: ({ perMinute, perDay }: Limits, nowMs: number) => [
      timeParameter(nowMs),
      String(perMinute),
      String(perDay),
    ],
  };
}

/** The keys of an account share one hash tag, because a script needs all its keys on one node. */
function createKeyNames(prefix: string) {
  function tagOf(subject: string, keyId: string | null): string {
    if (keyId !== null) return `${prefix}{${subject}}`;
    const kind = isReader(subject) ? 'readers' : 'addresses';
    return `${prefix}{${kind}:${crc32(subject) % addressParts}}`;
  }

  return {
    tagOf,
    keysOfAddress(subject: string): string[] {
      const part = tagOf(subject, null);
      return [`${part}:${subject}`, part, `${part}:shared`];
    },
    keysOfKey(subject: string, keyId: string): string[] {
      const account = tagOf(subject, keyId);
      const key = `${account}:key:${keyId}`;
      return [account, key, `${key}:strikes`];
    },
    liftOfKey: (subject: string, keyId: string) => `${tagOf(subject, keyId)}:key:${keyId}:lift`,
  };
}

/** Formats the windows for the scripts; empty if there are none. */
function formatWindows(windows: Kept['windows']): string {
  if (windows === null) return '';
  const { minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs } = windows;
  return `${minuteUsed} ${minuteEndsAtMs} ${dayUsed} ${dayEndsAtMs}`;
}

/** Formats the ban for the scripts; empty if there is none. Strikes are not sent. */
function formatBan(conduct: Kept['conduct']): string {
  return conduct === null ? '' : `${conduct.banAtMs} ${conduct.banMs}`;
}

type Reply = [passed: number, refused: number, ...Times];
type Times = [number, number, number, number, number, number];

/** Returns the usage of a request by its place in the batch. Passed requests come first, then refused, then banned. */
function toUsages(reply: unknown): (place: number) => Usage {
  const [passed, refused, atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, banEndsAtMs] =
    reply as Reply;
  return (place) => {
    const isPassed = place < passed;
    const later = isPassed ? passed - 1 - place : 0;
    const verdict = isPassed ? 'passed' : place < passed + refused ? 'refused' : 'banned';
    // If a ban began, the last refused request began it.
    const bannedUntilMs = place < passed + refused - 1 || isPassed ? 0 : banEndsAtMs;
    return {
      verdict,
      atMs,
      minuteUsed: minuteUsed - later,
      minuteEndsAtMs,
      dayUsed: dayUsed - later,
      dayEndsAtMs,
      bannedUntilMs,
    };
  };
}
