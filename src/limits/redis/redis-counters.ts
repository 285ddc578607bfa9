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
 * Counters that all instances share, in a single Redis or Valkey or in a cluster. A call is one round trip; requests
 * of a key in one turn of the event loop share it. A call fails if Redis cannot be reached, at once or within the
 * bounds of RedisLink. It is then unknown whether the request was counted.
 */
export interface RedisCounters extends Counters {
  /**
   * `kept` is what this instance kept of the account and its key. Its windows apply if Redis has none of the account.
   * Its ban applies if Redis has none that ends as late.
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
  lift(subject: string, keyId: string): Promise<void>;
  /** Connects if necessary. Fails unless requests of the subject can be counted. Counts nothing. */
  probe(subject: string, keyId: string | null): Promise<void>;
  /** Closes the link. Running calls fail. */
  close(): void;
}

/** How many hash tags the addresses are spread over, so that a cluster can distribute them. */
const addressParts = 16;

const unlimited = String(Number.MAX_SAFE_INTEGER);

/**
 * `prefix` begins every key and has no braces. Installations that share a Redis need different prefixes. `time` names
 * the clock: `server` is the same for all instances, `caller` is for tests. At most `addressesMax` addresses have their
 * own counts, over all instances.
 *
 * The keys of an account share one hash tag, and so one node of a cluster. All keys expire.
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
  const { tagOf, keysOfAddress, keysOfKey } = createKeyNames(prefix);
  const { ownTimeMs, timeParameter, limitParameters } = createParameters(time);

  async function takeForAddress(subject: string, limits: Limits, nowMs: number): Promise<Usage> {
    const parameters = [...limitParameters(limits, nowMs), partMax];
    return toUsages(await link.run(takeForAddressScript, keysOfAddress(subject), parameters))(0);
  }

  const takeForKey = createTakeBatches(async ({ subject, limits, keyId, nowMs }, count, kept) => {
    const parameters = [...limitParameters(limits, nowMs), String(count)];
    if (kept !== null) parameters.push(formatWindows(kept.windows), formatBan(kept.conduct));
    return toUsages(await link.run(takeForKeyScript, keysOfKey(subject, keyId), parameters));
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

    async lift(subject, keyId) {
      await link.run(liftScript, keysOfKey(subject, keyId), []);
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

/** The time parameters of scripts: the caller's time, or empty for the server's clock. */
function createParameters(time: 'server' | 'caller') {
  const timeParameter = (nowMs: number) => (time === 'caller' ? String(nowMs) : '');
  return {
    /**
     * With the server's clock the time is not a parameter, so requests of different milliseconds can share a batch.
     */
    ownTimeMs: (nowMs: number) => (time === 'caller' ? nowMs : 0),
    timeParameter,
    limitParameters: ({ perMinute, perDay }: Limits, nowMs: number) => [
      timeParameter(nowMs),
      String(perMinute),
      String(perDay),
    ],
  };
}

/** The names of keys. The keys of an account share one hash tag. */
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
  };
}

/** The windows in the format of the scripts; empty for none. */
function formatWindows(windows: Kept['windows']): string {
  if (windows === null) return '';
  const { minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs } = windows;
  return `${minuteUsed} ${minuteEndsAtMs} ${dayUsed} ${dayEndsAtMs}`;
}

/** The ban in the format of the scripts; empty for none. Strikes are not sent. */
function formatBan(conduct: Kept['conduct']): string {
  return conduct === null ? '' : `${conduct.banAtMs} ${conduct.banMs}`;
}

type Reply = [passed: number, refused: number, ...Times];
type Times = [number, number, number, number, number, number];

/** The usage of each request of a script's reply, by its place in the batch. */
function toUsages(reply: unknown): (place: number) => Usage {
  const [passed, refused, atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, banEndsAtMs] =
    reply as Reply;
  return (place) => {
    const isPassed = place < passed;
    const later = isPassed ? passed - 1 - place : 0;
    const verdict = isPassed ? 'passed' : place < passed + refused ? 'refused' : 'banned';
    // The last refused request begins the ban, if one began.
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
