import { minuteMs, secondMs } from '../clock.ts';
import type { Progress } from './attempts.ts';

/** What is left after one message, also if sending has thrown: `unavailable` for a fault of the store, else `failed`. */
type ProgressOrFault = Progress | 'unavailable' | 'failed';

/** Time in ms for which a delivery then stops. After `failed`, nothing else holds it if the store has no result. */
const heldMs: Readonly<Record<Exclude<ProgressOrFault, 'more' | 'done'>, number>> = {
  unavailable: secondMs / 2,
  failed: minuteMs / 2,
  sealed: minuteMs / 2,
};

/** A delivery of an account. It sends one message at a time until it has nothing to send. */
export interface Delivery {
  readonly name: string;
  readonly accountId: bigint;
  /** Never rejects. */
  readonly sendNext: () => Promise<ProgressOrFault>;
}

interface Account {
  /** The deliveries without a place, by name, first in, first out. */
  readonly waiting: Map<string, Delivery>;
  places: number;
}

/** Maximum number of messages that are sent at the same time, and so of connections to receivers. */
export const placesMax = 200;

/**
 * Creates the places of the deliveries that send at the same time, `count` of them. The places go round by account.
 * An account takes its first place as soon as one is free, and further ones only while fewer than half of all are taken.
 * So slow receivers delay no other account, unless more accounts than half of the places have them.
 * `elapsedMs` is a monotonic clock.
 */
export function createPlaces(count: number, elapsedMs: () => number) {
  /** The accounts with deliveries. The first one takes the next place. */
  const accounts = new Map<bigint, Account>();
  const running = new Map<string, Promise<void>>();
  /** The end of the time for which a delivery stops. */
  const heldToMs = new Map<string, number>();

  function fill(): void {
    for (const [id, account] of accounts) {
      if (running.size >= count) return;
      const [delivery] = account.waiting.values();
      if (delivery === undefined) {
        if (account.places === 0) accounts.delete(id);
      } else if (account.places === 0 || running.size < count / 2) {
        // The account goes to the end, where this loop meets it again.
        accounts.delete(id);
        accounts.set(id, account);
        account.waiting.delete(delivery.name);
        account.places += 1;
        running.set(delivery.name, run(account, delivery));
      }
    }
  }

  async function run(account: Account, delivery: Delivery): Promise<void> {
    const { name } = delivery;
    const progress = await delivery.sendNext();
    running.delete(name);
    account.places -= 1;
    if (progress === 'more') account.waiting.set(name, delivery);
    else if (progress !== 'done') heldToMs.set(name, elapsedMs() + heldMs[progress]);
    fill();
  }

  return {
    /** Adds deliveries, except those that wait, run or are held already. */
    add(deliveries: readonly Delivery[]): void {
      for (const [name, toMs] of heldToMs) if (toMs <= elapsedMs()) heldToMs.delete(name);
      for (const delivery of deliveries) {
        const { name, accountId } = delivery;
        if (running.has(name) || heldToMs.has(name)) continue;
        const account = accounts.get(accountId) ?? { waiting: new Map(), places: 0 };
        accounts.set(accountId, account);
        if (!account.waiting.has(name)) account.waiting.set(name, delivery);
      }
      fill();
    },
    async untilIdle(): Promise<void> {
      while (running.size > 0) await Promise.allSettled(running.values());
    },
  };
}
