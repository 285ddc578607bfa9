import { hash } from 'node:crypto';
import type { Limits } from '../../plans/plan.ts';
import { addressesMax } from '../counters.ts';
import { kindOf } from '../rules/address.ts';
import { strikesForBan } from '../rules/bans.ts';
import type { Usage } from '../rules/decision.ts';
import type { Windows as StoredWindows } from '../rules/windows.ts';
import { createRedisLink, type RedisLink } from './link.ts';
import { liftScript, resetScript, takeForAddressScript, takeForKeyScript } from './scripts.ts';

/**
 * Counters that all instances share, in a single Redis or Valkey server or in a cluster. A call takes one round trip.
 * Requests of a key in one turn of the event loop share a round trip.
 *
 * If Redis cannot be reached, a call fails at once or within the timeouts of RedisLink. It is then unknown whether
 * the request was counted.
 */
export type RedisCounters = ReturnType<typeof createRedisCounters>;

/** A ban by the clock of the counters. */
export interface RedisBan {
  readonly banAtMs: number;
  readonly banMs: number;
}

/** Options of `createRedisCounters`. */
export interface RedisCountersOptions {
  readonly url: string;
  /** Begins every key in Redis. It must not contain braces. Stores that share a Redis need different prefixes. */
  readonly prefix: string;
  /** The clock. `server` is the clock of Redis, the same for all instances. `caller` is for tests. */
  readonly time?: 'server' | 'caller';
  /** Maximum number of addresses with counts, over all instances. */
  readonly addressesMax?: number;
  /** Called with each answer that a key is banned. */
  readonly onBan?: (keyId: string, ban: RedisBan) => void;
}

/**
 * Returns the prefix of a store's keys in Redis. Several stores may use one Redis. So the prefix is derived from a
 * secret that only the instances of one store share.
 */
export function redisPrefix(secret: Uint8Array): string {
  return `animal-store:${hash('sha256', secret, 'hex').slice(0, 12)}:`;
}

/** Creates counters in Redis. All keys expire. */
export function createRedisCounters(options: RedisCountersOptions) {
  const { url, prefix, time = 'server', onBan = () => undefined } = options;
  const link = createRedisLink(url);
  const indexMax = options.addressesMax ?? addressesMax;
  /** Time 0 selects the server's clock, so that requests of different milliseconds share a batch. */
  const ownTimeMs = (nowMs: number) => (time === 'caller' ? nowMs : 0);

  async function countAddress(subject: string, limits: Limits, count: number, nowMs: number) {
    const tag = tagOf(prefix, subject);
    const parameters = listParameters(ownTimeMs(nowMs), limits, count, indexMax);
    return toUsages(await link.run(takeForAddressScript, [`${tag}:${subject}`, tag], parameters))(0);
  }

  async function countForKey(batch: KeyBatch): Promise<(place: number) => Usage> {
    const { keyId } = batch;
    const tag = tagOf(prefix, batch.subject);
    const reply = await link.run(takeForKeyScript, [tag, `${tag}:key:${keyId}`], listKeyParameters(batch));
    const [, , atMs, , , , , banAtMs, banMs] = reply as Reply;
    if (banAtMs + banMs > atMs) onBan(keyId, { banAtMs, banMs });
    return toUsages(reply);
  }

  const takeForKey = gatherByKey(countForKey);

  return {
    /** `stored` counts for an account if Redis has no windows of it. */
    take: (
      subject: string,
      limits: Limits,
      keyId: string | null,
      nowMs: number,
      stored: StoredWindows | null = null,
    ): Promise<Usage> =>
      keyId === null
        ? countAddress(subject, limits, 1, nowMs)
        : takeForKey(subject, limits, keyId, ownTimeMs(nowMs), stored),

    async look(subject: string, nowMs: number): Promise<Usage> {
      await link.connect();
      const usage =
        kindOf(subject) === 'accounts'
          ? (await countForKey(batchOfNone(subject, ownTimeMs(nowMs))))(0)
          : await countAddress(subject, noLimits, 0, nowMs);
      return { ...usage, verdict: 'passed' };
    },

    lift: async (subject: string, keyId: string, atMs: number): Promise<void> =>
      void (await link.run(liftScript, [`${tagOf(prefix, subject)}:key:${keyId}`], [String(atMs)])),

    reset: async (subject: string, atMs: number): Promise<void> =>
      void (await link.run(resetScript, [tagOf(prefix, subject)], [String(atMs)])),

    /** Connects if necessary. Fails if requests of the subject cannot be counted. Counts nothing. */
    probe: (subject: string) => probe(link, prefix, subject),

    /** Closes the link permanently. Running calls fail. */
    close: link.close,
  };
}

async function probe(link: RedisLink, prefix: string, subject: string): Promise<void> {
  await link.connect();
  const place = `${tagOf(prefix, subject)}:probe`;
  const unlimited = { perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER };
  await link.run(takeForKeyScript, [place, `${place}:key`], listParameters(0, unlimited, 1, 1));
}

const noLimits: Limits = { perMinute: 0, perDay: 0 };

/**
 * A script needs all its keys on one node of a cluster. So the keys of an account share one hash tag, and all addresses
 * share one, because they have one bound.
 */
function tagOf(prefix: string, subject: string): string {
  const kind = kindOf(subject);
  return `${prefix}{${kind === 'accounts' ? subject : kind}}`;
}

function listKeyParameters({ nowMs, limits, waiters, stored }: KeyBatch): string[] {
  const parameters = listParameters(nowMs, limits, waiters.length, strikesForBan(limits.perMinute));
  return stored === null ? parameters : [...parameters, writeWindows(stored)];
}

function writeWindows({ minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs }: StoredWindows): string {
  return [minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs].map(Math.round).join(' ');
}

/** Lists the parameters of the scripts. An empty time selects the server's clock. */
function listParameters(
  nowMs: number,
  { perMinute, perDay }: Limits,
  count: number,
  bound: number,
): string[] {
  return [nowMs === 0 ? '' : String(nowMs), ...[perMinute, perDay, count, bound].map(String)];
}

interface Waiter {
  readonly resolve: (usage: Usage) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests of one key that Redis decides as if they came one right after the other. */
interface KeyBatch {
  readonly subject: string;
  readonly limits: Limits;
  readonly keyId: string;
  readonly nowMs: number;
  readonly waiters: Waiter[];
  /** The windows of the account if Redis has none. */
  stored: StoredWindows | null;
}

function batchOfNone(subject: string, nowMs: number): KeyBatch {
  return { subject, limits: noLimits, keyId: '', nowMs, waiters: [], stored: null };
}

/** Collects the requests of each key until the end of the poll phase. No timer delays a request. */
function gatherByKey(countForKey: (batch: KeyBatch) => Promise<(place: number) => Usage>) {
  let batches: KeyBatch[] = [];
  /** The newest batch of each key. */
  const byKey = new Map<string, KeyBatch>();

  async function send(batch: KeyBatch): Promise<void> {
    try {
      const usageAt = await countForKey(batch);
      for (const [place, { resolve }] of batch.waiters.entries()) resolve(usageAt(place));
    } catch (error) {
      for (const { reject } of batch.waiters) reject(error);
    }
  }

  function sendAll(): void {
    const gathered = batches;
    batches = [];
    byKey.clear();
    for (const batch of gathered) send(batch);
  }

  return (
    subject: string,
    limits: Limits,
    keyId: string,
    nowMs: number,
    stored: StoredWindows | null,
  ): Promise<Usage> =>
    new Promise((resolve, reject) => {
      let batch = byKey.get(keyId);
      if (batch === undefined || batch.limits !== limits || batch.nowMs !== nowMs) {
        batch = { subject, limits, keyId, nowMs, waiters: [], stored };
        byKey.set(keyId, batch);
        if (batches.push(batch) === 1) setImmediate(sendAll);
      }
      batch.stored ??= stored;
      batch.waiters.push({ resolve, reject });
    });
}

type Reply = [passed: number, refused: number, atMs: number, ...Windows, banAtMs: number, banMs: number];
type Windows = [minuteUsed: number, minuteEndsAtMs: number, dayUsed: number, dayEndsAtMs: number];

/** Returns the usage of a request by its place in the batch. Passed requests come first, then refused, then banned. */
function toUsages(reply: unknown): (place: number) => Usage {
  const [passed, refused, atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, banAtMs, banMs] =
    reply as Reply;
  const banEndsAtMs = banAtMs + banMs > atMs ? banAtMs + banMs : 0;
  return (place) => {
    const isPassed = place < passed;
    const later = isPassed ? passed - 1 - place : 0;
    return {
      verdict: isPassed ? 'passed' : place < passed + refused ? 'refused' : 'banned',
      atMs,
      minuteUsed: minuteUsed - later,
      minuteEndsAtMs,
      dayUsed: dayUsed - later,
      dayEndsAtMs,
      // If a ban began, the last refused request began it.
      bannedUntilMs: place < passed + refused - 1 || isPassed ? 0 : banEndsAtMs,
    };
  };
}
