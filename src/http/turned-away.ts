import type { Server } from 'node:http';
import { type Clock, minuteMs } from '../clock.ts';
import type { Log } from '../observability/log.ts';

/** Logs that connections beyond the most that may be open are turned away: how many, at most once a minute. */
export function logTurnedAway(server: Server, clock: Clock, log: Log): void {
  let count = 0;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    count += 1;
    if (clock() < toldAtMs + minuteMs) return;
    log.warn({ turnedAway: count, connectionsMax: server.maxConnections }, 'too many connections are open');
    count = 0;
    toldAtMs = clock();
  });
}
