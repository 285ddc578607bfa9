import type { Server } from 'node:http';

/** How many requests are handled without waiting in one turn of the event loop while connections arrive. */
export const requestsBesideArrivals = 32;
/** For how many turns after a connection more are expected. Node does not accept a waiting connection in every turn. */
export const arrivalTurns = 16;

/** Limits how long turns of the event loop are while connections arrive. */
export interface Arrivals {
  /** Counts a request. False if it must wait for a later turn. */
  admit(): boolean;
}

/**
 * Keeps the turns of the event loop short while connections arrive, because Node accepts one connection a turn.
 * Answering 1,000 clients in one turn takes 50 ms, so 1,000 new connections would wait for most of a minute.
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
