import { crc32 } from 'node:zlib';
import type { Limits } from '../../plans/plan.ts';
import type { Counters } from '../counters.ts';
import { addressesMax } from '../memory/memory-counters.ts';
import { isReader } from '../rules/address.ts';
import type { Usage } from '../rules/decision.ts';
import { createRedisLink } from './link.ts';
import { peekAddressScript, takeForAddressScript, takeForKeyScript } from './scripts.ts';
import type { Kept } from './untold.ts';

/**
 * Counters that all instances share, in Redis or Valkey, a single one or a cluster. A call is one round trip. It fails
 * where Redis cannot be reached, at once or within the bounds of RedisLink; whether its request has been counted is
 * then not known.
 */
export interface RedisCounters extends Counters {
  /**
   * What was `kept` of the account and its key before counts: the windows where nothing is known of the account here,
   * the ban where none is known that ends as late.
   */
  take(
    subject: string,
    limits: Limits,
    keyId: string | null,
    nowMs: number,
    kept?: Kept | null,
  ): Promise<Usage>;
  peek(subject: string, nowMs: number): Promise<Usage>;
  /** Connects, if need be, and fails unless requests of a subject can be counted; counts none. */
  probe(subject: string, keyId: string | null): Promise<void>;
  /** Lets what is running fail. */
  close(): void;
}

/** How many parts the addresses are counted in, so that a cluster can spread them over its nodes. */
const addressParts = 16;

const unlimited = String(Number.MAX_SAFE_INTEGER);

/**
 * `prefix` begins every key and has no braces; installations that share a Redis differ in it. `time` is whose clock counts: the server's,
 * one for all instances whatever their own clocks say, or the caller's, for tests that move it. Of `addressesMax`
 * addresses each has counts of its own, all instances taken together.
 *
 * What belongs to an account lies under one hash tag, and so in one node of a cluster. All keys expire by themselves.
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

  function timeParameter(nowMs: number): string {
    return time === 'caller' ? String(nowMs) : '';
  }

  function tagOf(subject: string, keyId: string | null): string {
    if (keyId !== null) return `${prefix}{${subject}}`;
    const kind = isReader(subject) ? 'readers' : 'addresses';
    return `${prefix}{${kind}:${crc32(subject) % addressParts}}`;
  }

  function keysOfAddress(subject: string): string[] {
    const part = tagOf(subject, null);
    return [`${part}:${subject}`, part, `${part}:shared`];
  }

  function keysOfKey(subject: string, keyId: string): string[] {
    const account = tagOf(subject, keyId);
    const key = `${account}:key:${keyId}`;
    return [account, key, `${key}:strikes`];
  }

  return {
    async take(subject, { perMinute, perDay }, keyId, nowMs, kept = null) {
      const parameters = [timeParameter(nowMs), String(perMinute), String(perDay)];
      if (keyId !== null) {
        if (kept !== null) parameters.push(formatWindows(kept.windows), formatBan(kept.conduct));
        return toUsage(await link.run(takeForKeyScript, keysOfKey(subject, keyId), parameters));
      }
      parameters.push(partMax);
      return toUsage(await link.run(takeForAddressScript, keysOfAddress(subject), parameters));
    },

    async peek(subject, nowMs) {
      const parameters = [timeParameter(nowMs), '', '', partMax];
      return toUsage(await link.run(peekAddressScript, keysOfAddress(subject), parameters));
    },

    async probe(subject, keyId) {
      await link.connect();
      const place = `${tagOf(subject, keyId)}:probe`;
      const keys = [place, `${place}:key`, `${place}:key:strikes`];
      await link.run(takeForKeyScript, keys, ['', unlimited, unlimited]);
    },

    close: link.close,
  };
}

/** As the scripts keep them; empty where nothing was kept. */
function formatWindows(windows: Kept['windows']): string {
  if (windows === null) return '';
  const { minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs } = windows;
  return `${minuteUsed} ${minuteEndsAtMs} ${dayUsed} ${dayEndsAtMs}`;
}

/** The same; the refused requests since the ban are not told. */
function formatBan(conduct: Kept['conduct']): string {
  return conduct === null ? '' : `${conduct.banAtMs} ${conduct.banMs}`;
}

type Reply = [verdict: Usage['verdict'], ...times: [number, number, number, number, number, number]];

function toUsage(reply: unknown): Usage {
  const [verdict, atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, bannedUntilMs] = reply as Reply;
  return { verdict, atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, bannedUntilMs };
}
