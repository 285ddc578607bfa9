import type { Server } from 'node:http';

/**
 * Maximum number of requests that are handled without waiting in one turn of the event loop while connections arrive.
 */
export const requestsBesideArrivals = 32;
/**
 * Number of turns after a new connection in which `requestsBesideArrivals` applies. One turn is not enough, because
 * Node does not accept a waiting connection in every turn.
 */
export const arrivalTurns = 16;

/** Limits the number of requests in a turn of the event loop while connections arrive. */
export interface Arrivals {
  /** Counts a request. Returns false if the request must wait for a later turn. */
  admit(): boolean;
}

/**
 * Keeps the turns of the event loop short while connections arrive. Node accepts only one connection per turn, so long
 * turns delay new clients (docs/decisions/http.md).
 */
export function watchArrivals(server: Server): Arrivals {
  let turnsLeft = 0;
  let admitted = 0;

  function endTurn(): void {
    admitted = 0;
    turnsLeft -= 1;
    if (turnsLeft > 0) setImmediate(endTurn);
  }

  server.on('connection', () => {
    if (turnsLeft === 0) setImmediate(endTurn);
    turnsLeft = arrivalTurns;
  });

  return {
    admit() {
      if (turnsLeft === 0) return true;
      admitted += 1;
      return admitted <= requestsBesideArrivals;
    },
  };
}
