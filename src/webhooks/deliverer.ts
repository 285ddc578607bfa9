import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { minuteMs, secondMs } from '../clock.ts';
import { type AttemptParts, type Turn, takeTurn } from './attempts.ts';
import { passEvents, selectDue, selectRequested, toIds } from './delivery-rows.ts';
import { bodyMsMax } from './post-message.ts';
import { attemptMsMax } from './rules/retry.ts';

export interface DelivererParts extends Omit<AttemptParts, 'mayBegin' | 'signal'> {
  /** Milliseconds until the lease of this instance expires. 0 without the lease. */
  readonly leftMs: () => number;
  /** Maximum number of messages that are sent at the same time, and so of connections to receivers. */
  readonly sendingsMax?: number;
}

/** An attempt needs this much time of the lease, so that two instances never send to a webhook at the same time. */
const leftMsMin = attemptMsMax + bodyMsMax + secondMs / 2;

/** Number of webhooks in one read. Each needs several index searches, and SQLite reads synchronously. */
const dueRows = 100;

/** Time for which a sealed or failed delivery stops: if the store does not have its failure, nothing else holds it. */
const heldMs = minuteMs / 2;

export type Deliverer = ReturnType<typeof createDeliverer>;

/** Creates a deliverer, which sends the events of a webhook one at a time, in feed order. */
export function createDeliverer({ leftMs, sendingsMax = 200, ...parts }: DelivererParts) {
  const { database, observer } = parts;
  const stopping = new AbortController();
  let isEnding = false;
  const mayBegin = () => !isEnding && leftMs() >= leftMsMin;
  const turns = { ...parts, mayBegin, signal: stopping.signal };
  const queue = createQueue(sendingsMax, observer.onFault);
  const add = (what: 'event' | 'requested', webhook: Delivery['webhook']) =>
    queue.add(`${webhook.id} ${what}`, { webhook, takeTurn: () => takeTurn(turns, what, webhook.id) });

  return {
    /** If this instance has the lease, starts what is due and advances idle webhooks. Throws the database's errors. */
    async look(): Promise<void> {
      if (!mayBegin()) return;
      for (const webhook of await database.read(selectRequested, {})) add('requested', webhook);
      const after = { afterPosition: -1n, afterId: 0n };
      for (; mayBegin(); await nextTurn()) {
        const due = await database.read(selectDue, { ...after, count: BigInt(dueRows) });
        const idle = due.filter(({ next_id, is_lost }) => next_id === null && is_lost === 0n);
        for (const webhook of due) if (!idle.includes(webhook)) add('event', webhook);
        if (idle.length > 0) await database.run(passEvents, { ids: toIds(idle) });
        const last = due.at(-1);
        if (last === undefined || due.length < dueRows) return;
        after.afterPosition = last.position;
        after.afterId = last.id;
      }
    },

    untilIdle: queue.untilIdle,

    /** Starts no more deliveries, and aborts those that run after `graceMs`. An aborted one records no result. */
    async stop(graceMs: number): Promise<void> {
      isEnding = true;
      await Promise.race([queue.untilIdle(), sleep(graceMs, undefined, { ref: false })]);
      stopping.abort();
      await queue.untilIdle();
    },
  };
}

interface Delivery {
  readonly webhook: { readonly id: bigint; readonly public_id: string };
  readonly takeTurn: () => Promise<Turn>;
}

/**
 * Creates a queue of the deliveries that wait for a turn. At most `runningMax` run at the same time. One that has more to
 * send goes to the end of the queue, so each waits for at most one turn of every other.
 */
function createQueue(runningMax: number, onFault: (webhookId: string, error: unknown) => void) {
  const waiting = new Map<string, Delivery>();
  const running = new Map<string, Promise<void>>();
  const held = new Set<string>();

  function fill(): void {
    for (const [name, delivery] of waiting) {
      if (running.size >= runningMax) return;
      waiting.delete(name);
      running.set(name, run(name, delivery));
    }
  }

  async function run(name: string, delivery: Delivery): Promise<void> {
    const { webhook, takeTurn } = delivery;
    const turn = await takeTurn().catch((error) => {
      onFault(webhook.public_id, error);
      return 'failed';
    });
    running.delete(name);
    if (turn === 'more') waiting.set(name, delivery);
    else if (turn !== 'done') hold(name);
    fill();
  }

  function hold(name: string): void {
    held.add(name);
    setTimeout(() => held.delete(name), heldMs).unref();
  }

  return {
    add(name: string, delivery: Delivery): void {
      if (running.has(name) || waiting.has(name) || held.has(name)) return;
      waiting.set(name, delivery);
      fill();
    },
    async untilIdle(): Promise<void> {
      while (running.size > 0) await Promise.allSettled(running.values());
    },
  };
}
