import type { Server } from 'node:http';

/** How many requests are handled at once in a turn of the event loop while connections arrive. */
export const requestsBesideArrivals = 32;
/** For how many turns more connections are expected behind one: not every turn with one waiting accepts it. */
export const arrivalTurns = 16;

/** Whether connections arrive, and with them how long turns may be. */
export interface Arrivals {
  /** Counts a request that could be handled at once; false if it has to wait for its turn. */
  admit(): boolean;
}

/**
 * Keeps the turns of the event loop short while connections arrive: Node accepts one connection a turn. A turn in which
 * 1,000 clients are answered takes 50 ms, and so 1,000 new ones would wait for most of a minute.
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
