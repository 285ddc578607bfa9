import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import { type Clock, minuteMs } from '../clock.ts';
import type { Log } from '../observability/log.ts';
import { expose } from '../observability/metrics.ts';

/**
 * Logs that connections beyond the most that may be open are turned away: at once, then once in `everyMs` how many more
 * have been, and the rest when the server closes.
 */
export function logTurnedAway(server: Server, clock: Clock, log: Log, everyMs = minuteMs): void {
  let count = 0;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function tell(): void {
    clearTimeout(timer);
    timer = undefined;
    if (count === 0) return;
    log.warn({ turnedAway: count, connectionsMax: server.maxConnections }, 'too many connections are open');
    count = 0;
    toldAtMs = clock();
  }

  server.on('drop', () => {
    count += 1;
    if (clock() >= toldAtMs + everyMs) tell();
    else timer ??= setTimeout(tell, everyMs).unref();
  });
  server.once('close', tell);
}

/** Counts the connections beyond the most that may be open, which are turned away. */
export function countTurnedAway(server: Server, registry: Registry): void {
  let count = 0;

  expose(
    registry,
    {
      name: 'connections_turned_away_total',
      type: 'counter',
      help: 'Connections closed at once, as too many were open.',
    },
    () => [{ labels: {}, value: count }],
  );

  server.on('drop', () => {
    count += 1;
  });
}
