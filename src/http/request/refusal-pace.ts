import type { ServerResponse } from 'node:http';
import { secondMs } from '../../clock.ts';
import type { Soon } from '../../promises.ts';

/** Refusals that are answered per second, and those that are answered at once after a time with few. */
export const refusalPace = { perSecond: 2_000, burst: 200 } as const;

/** Interval in ms at which waiting refusals are answered. */
const releaseEveryMs = 5;

export type RefusalPace = ReturnType<typeof createRefusalPace>;

/**
 * Bounds the refusals (401, 429) that the process answers per second. A client that asks again as soon as it is refused
 * then takes a bounded part of one core, however many connections it has. Refusals beyond the pace wait in one queue, first
 * in, first out.
 */
export function createRefusalPace(elapsedMs = () => performance.now()) {
  const waiting = new Map<ServerResponse, (waitedMs: number) => void>();
  let isOpen = true;
  let left: number = refusalPace.burst;
  let refilledAtMs = elapsedMs();
  let timer: NodeJS.Timeout | null = null;

  function refill(): void {
    const nowMs = elapsedMs();
    const earned = ((nowMs - refilledAtMs) / secondMs) * refusalPace.perSecond;
    left = Math.min(refusalPace.burst, left + earned);
    refilledAtMs = nowMs;
  }

  function releaseSome(): void {
    timer = null;
    refill();
    for (const release of waiting.values()) {
      if (isOpen && left < 1) break;
      left -= 1;
      release(elapsedMs());
    }
    if (waiting.size > 0) timer = setTimeout(releaseSome, releaseEveryMs);
  }

  function wait(response: ServerResponse): Promise<number> {
    const sinceMs = elapsedMs();
    return new Promise((resolve) => {
      const release = (nowMs: number) => {
        waiting.delete(response);
        response.off('close', leave);
        resolve(nowMs - sinceMs);
      };
      // A client that leaves takes no part of the pace.
      const leave = () => release(elapsedMs());
      waiting.set(response, release);
      response.once('close', leave);
      timer ??= setTimeout(releaseSome, releaseEveryMs);
    });
  }

  return {
    /** Returns the milliseconds that the response to a refused request has waited: 0 at once while there are few. */
    take(response: ServerResponse): Soon<number> {
      if (!isOpen) return 0;
      refill();
      if (waiting.size > 0 || left < 1) return wait(response);
      left -= 1;
      return 0;
    },
    /** Answers all that wait, and lets no refusal wait from now on. A shutdown calls it. */
    end(): void {
      isOpen = false;
      if (timer !== null) clearTimeout(timer);
      releaseSome();
    },
    count: () => waiting.size,
  };
}
