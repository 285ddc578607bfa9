import type { Exchange } from '../exchange.ts';

/**
 * Maximum number of requests that begin in one turn of the event loop. Reads from the cache take about 2 ms then. The loop
 * accepts connections, runs timers and commits only between turns, so a crowd delays all of these by no more than such a turn.
 */
export const turnRequestsMax = 64;
/**
 * Time in ms after which a turn begins no further request. A port accepts only one connection in each turn (libuv), so with
 * long turns on a slow machine, a new connection waits for seconds.
 */
export const turnMsMax = 2;

export interface TurnQueueOptions {
  /** Runs `begin`, which begins all requests of a turn and ends before any other code runs. */
  readonly together?: (begin: () => void) => void;
  readonly requestsMax?: number;
  /** Milliseconds. */
  readonly msMax?: number;
}

export type TurnQueue = ReturnType<typeof createTurnQueue>;

/**
 * Begins requests at the end of the turn in which they arrive, first in, first out. Those beyond `requestsMax` or `msMax` wait
 * for the next turns. The queue is bounded by the connections, because each has at most one request in it.
 */
export function createTurnQueue(begin: (exchange: Exchange) => void, options: TurnQueueOptions = {}) {
  const { together = (act) => act(), requestsMax = turnRequestsMax, msMax = turnMsMax } = options;
  const waiting: Exchange[] = [];
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    // Runs after the turn has read its sockets. One that is set here runs in the next turn, after new sockets are read.
    setImmediate(beginTurn);
  }

  function beginTurn(): void {
    isScheduled = false;
    const lastAtMs = performance.now() + msMax;
    let begun = 0;
    together(() => {
      for (const exchange of waiting.slice(0, requestsMax)) {
        beginNow(exchange);
        begun += 1;
        if (performance.now() >= lastAtMs) return;
      }
    });
    waiting.splice(0, begun);
    if (waiting.length > 0) schedule();
  }

  /** Begins a request that has not begun, out of turn if it waits. The client of a destroyed response has left. */
  function beginNow(exchange: Exchange): void {
    if (exchange.hasBegun || exchange.response.destroyed) return;
    exchange.hasBegun = true;
    begin(exchange);
  }

  return {
    add(exchange: Exchange): void {
      waiting.push(exchange);
      schedule();
    },
    beginNow,
    count: () => waiting.length,
  };
}
