import { sql } from 'kysely';
import { type Clock, hourMs, minuteMs } from '../clock.ts';
import { readNetwork } from '../limits/rules/address.ts';
import {
  type Database,
  lastStep,
  type Steps,
  statement,
  together,
  transaction,
} from '../storage/database.ts';
import { deletesOld } from '../storage/delete-old.ts';
import { insertRow } from '../storage/insert-row.ts';
import type { FailedRequest } from './failed-requests.ts';

/** Time in ms for which the store keeps the addresses of strangers. */
const strangersKeptMs = hourMs;
/** Maximum number of addresses that an instance counts in a minute. Further ones are left out. */
export const countedMax = 10_000;
/** Number of addresses of a minute that an instance writes: those with the most refusals. */
export const writtenMax = 100;
/** The statuses of requests without a valid key that are refused: no key or a wrong one, and beyond the limit of an address. */
const refused = [401, 429];
/** Number of addresses that are listed. */
const listedMax = 100;

/** Counts the refused requests without a valid key by address, in memory, until `flush` writes the highest counts. */
export type Strangers = ReturnType<typeof createStrangers>;

/** Creates counts without addresses. A failed flush loses those of its minute. */
export function createStrangers(database: Database, clock: Clock) {
  let refusals = new Map<string, number>();

  return {
    note({ accountId, status, address }: Pick<FailedRequest, 'accountId' | 'status' | 'address'>): void {
      if (accountId !== null || !refused.includes(status)) return;
      const network = readNetwork(address);
      const earlier = refusals.get(network);
      if (earlier === undefined && refusals.size >= countedMax) return;
      refusals.set(network, (earlier ?? 0) + 1);
    },

    /** Adds the counts since the last call to those of this minute of all instances. Call it once a minute. */
    async flush(): Promise<void> {
      if (refusals.size === 0) return;
      const counted = refusals;
      refusals = new Map();
      const highest = [...counted].sort(([, one], [, other]) => other - one).slice(0, writtenMax);
      // All instances write rows in the same order, so that they do not deadlock.
      highest.sort(([one], [other]) => (one < other ? -1 : 1));
      const nowMs = clock();
      await database.transact(addStrangers, { minuteAtMs: nowMs - (nowMs % minuteMs), highest });
    },

    sweep: () => deleteOld(database, clock() - strangersKeptMs - minuteMs),
  };
}

interface NewStrangers {
  readonly minuteAtMs: number;
  readonly highest: readonly (readonly [address: string, refusals: number])[];
}

export const addStrangers = transaction(
  'addStrangers',
  'row locks',
  function* ({ minuteAtMs, highest }: NewStrangers): Steps<void> {
    const minute_at_ms = BigInt(minuteAtMs);
    const steps = highest.map(([address, count]) =>
      lastStep(addStranger, { minute_at_ms, address, refusals: BigInt(count) }),
    );
    yield* together(...steps);
  },
);

const addStranger = insertRow('strangers', ['minute_at_ms', 'address', 'refusals'], {
  on: ['minute_at_ms', 'address'],
  replace: [],
  add: ['refusals'],
});

/** An address, or an IPv6 network of 64 bits, with its refused requests of the last hour. */
export interface Stranger {
  readonly address: string;
  readonly refusals: number;
  /** The last minute with a refusal, in Unix milliseconds. */
  readonly lastAtMs: number;
}

/** Returns the addresses with the most refusals of the last hour, highest first. */
export async function listStrangers(database: Database, nowMs: number): Promise<Stranger[]> {
  const sinceMs = BigInt(nowMs - strangersKeptMs);
  const rows = await database.read(selectStrangers, { sinceMs, count: BigInt(listedMax) });
  return rows.map(({ address, refusals, last_at_ms }) => ({
    address,
    refusals: Number(refusals),
    lastAtMs: Number(last_at_ms),
  }));
}

const selectStrangers = statement((query, p: { sinceMs: bigint; count: bigint }) =>
  query
    .selectFrom('strangers')
    .select('address')
    .select(sql<bigint>`cast(sum(refusals) as bigint)`.as('refusals'))
    .select(sql<bigint>`max(minute_at_ms)`.as('last_at_ms'))
    .where('minute_at_ms', '>=', p.sinceMs)
    .groupBy('address')
    .orderBy(sql.id('refusals'), 'desc')
    .orderBy('address')
    .limit(p.count),
);

const deleteOld = deletesOld('strangers', ['minute_at_ms', 'address'], 'minute_at_ms');
