import { hash } from 'node:crypto';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Limits } from '../../plans/plan.ts';
import { addressesMax } from '../counters.ts';
import { kindOf } from '../rules/address.ts';
import { strikesForBan } from '../rules/bans.ts';
import type { Usage } from '../rules/decision.ts';
import type { Windows } from '../rules/windows.ts';
import { createRedisLink } from './link.ts';

/**
 * Counters that all instances share, in Redis or Valkey. The requests of a key in one turn of the event loop share a round
 * trip. A call fails as the link does (link.ts); it is then unknown whether the request was counted.
 */
export type RedisCounters = ReturnType<typeof createRedisCounters>;

interface RedisCountersOptions {
  readonly url: string;
  /** Begins every key in Redis. It must not contain braces. Stores that share a Redis need different prefixes. */
  readonly prefix: string;
  /** The clock. `server` is the clock of Redis, the same for all instances. `caller` is for tests. */
  readonly time?: 'server' | 'caller';
  /** Over all instances. */
  readonly addressesMax?: number | undefined;
  /** Called with each answer that a key is banned. The times are of the clock of the counters. */
  readonly onBan?: (keyId: string, banAtMs: number, banMs: number) => void;
}

/** Returns the prefix of a store's keys in Redis, made from its secret, because several stores may use one Redis. */
export function redisPrefix(secret: Uint8Array): string {
  return `animal-store:${hash('sha256', secret, 'hex').slice(0, 12)}:`;
}

/** Requests of one subject and key. Redis decides about them as if they came one right after the other. */
interface Batch {
  readonly subject: string;
  readonly keyId: string | null;
  readonly limits: Limits;
  /** Unix milliseconds, or empty for the clock of Redis. */
  readonly time: string;
  count: number;
  /** The windows of the account, if Redis has none. */
  readonly stored?: Windows | undefined;
}

/** Returns the usage of a request by its place in the batch. */
type UsageAt = (place: number) => Usage;

const noLimits: Limits = { perMinute: 0, perDay: 0 };

/** Creates counters in Redis. All keys expire. */
export function createRedisCounters(options: RedisCountersOptions) {
  const { url, prefix, onBan = () => undefined } = options;
  const indexMax = options.addressesMax ?? addressesMax;
  const { connect, run, close } = createRedisLink(url);

  async function decide({ subject, keyId, limits, time, count, stored }: Batch): Promise<UsageAt> {
    const tag = tagOf(prefix, subject);
    const bound = keyId === null ? indexMax : strikesForBan(limits.perMinute);
    const parameters = [
      time,
      ...[limits.perMinute, limits.perDay, count, bound].map(String),
      ...(stored === undefined ? [] : [writeWindows(stored)]),
    ];
    if (keyId === null)
      return toUsages((await run('takeForAddress', [`${tag}:${subject}`, tag], parameters)) as Reply);
    const reply = (await run('takeForKey', [tag, `${tag}:key:${keyId}`], parameters)) as Reply;
    const [, , atMs, , , , , banAtMs, banMs] = reply;
    if (banAtMs + banMs > atMs) onBan(keyId, banAtMs, banMs);
    return toUsages(reply);
  }

  const gather = gatherByKey(decide);
  const timeAt = (nowMs: number) => (options.time === 'caller' ? String(nowMs) : '');

  return {
    /** `stored` counts for an account if Redis has no windows of it. */
    take(subject: string, limits: Limits, keyId: string | null, nowMs: number, stored?: Windows) {
      const request = { subject, keyId, limits, time: timeAt(nowMs), count: 1, stored };
      return keyId === null ? decide(request).then((usageAt) => usageAt(0)) : gather(request, keyId);
    },

    async look(subject: string, nowMs: number): Promise<Usage> {
      await connect();
      const keyId = kindOf(subject) === 'accounts' ? '' : null;
      const usageAt = await decide({ subject, keyId, limits: noLimits, time: timeAt(nowMs), count: 0 });
      return { ...usageAt(0), verdict: 'passed' };
    },

    lift: (subject: string, keyId: string, atMs: number) =>
      run('lift', [`${tagOf(prefix, subject)}:key:${keyId}`], [String(atMs)]).then(() => true),

    reset: (subject: string, atMs: number) =>
      run('reset', [tagOf(prefix, subject)], [String(atMs)]).then(() => true),

    /** Connects if necessary. Fails if requests of the subject cannot be counted. Counts nothing. */
    async probe(subject: string): Promise<void> {
      await connect();
      const place = `${tagOf(prefix, subject)}:probe`;
      // Every call writes: first the windows, then the strikes and bans.
      await run('takeForKey', [place, `${place}:key`], ['', '1', '1', '1', '1']);
    },

    /** Closes the link permanently. Running calls fail. */
    close,
  };
}

/** Returns a function that adds a request to the batch of its key, which is sent at the end of the poll phase. */
function gatherByKey(decide: (batch: Batch) => Promise<UsageAt>) {
  /** The newest batch of each key that is not sent yet. */
  const gathering = new Map<string, { batch: Batch; usageAt: Promise<UsageAt> }>();

  return (request: Batch, keyId: string): Promise<Usage> => {
    let known = gathering.get(keyId);
    if (known?.batch.limits !== request.limits || known.batch.time !== request.time) {
      const usageAt = endOfTurn().then(() => {
        gathering.delete(keyId);
        return decide(request);
      });
      known = { batch: request, usageAt };
      gathering.set(keyId, known);
    } else known.batch.count += 1;
    const place = known.batch.count - 1;
    return known.usageAt.then((usageOf) => usageOf(place));
  };
}

/** The hash tag puts the keys of a script on one node: those of an account, and those of all addresses with their bound. */
function tagOf(prefix: string, subject: string): string {
  const kind = kindOf(subject);
  return `${prefix}{${kind === 'accounts' ? subject : kind}}`;
}

function writeWindows({ minute, day }: Windows): string {
  return [minute.used, minute.endsAtMs, day.used, day.endsAtMs].map(Math.round).join(' ');
}

type Reply = readonly [number, number, number, number, number, number, number, number, number];

/** Of a batch, the requests that passed come first, then the refused ones, then those during a ban. */
function toUsages(reply: Reply): UsageAt {
  const [passed, refused, atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, banAtMs, banMs] = reply;
  const banEndsAtMs = banAtMs + banMs > atMs ? banAtMs + banMs : 0;
  return (place) => {
    const isPassed = place < passed;
    const later = isPassed ? passed - 1 - place : 0;
    return {
      verdict: isPassed ? 'passed' : place < passed + refused ? 'refused' : 'banned',
      atMs,
      minute: { used: minuteUsed - later, endsAtMs: minuteEndsAtMs },
      day: { used: dayUsed - later, endsAtMs: dayEndsAtMs },
      // If a ban began, the last refused request began it.
      bannedUntilMs: place < passed + refused - 1 || isPassed ? 0 : banEndsAtMs,
    };
  };
}
