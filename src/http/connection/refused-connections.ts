import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import { type Clock, minuteMs } from '../../clock.ts';
import type { Log } from '../../observability/log.ts';
import { expose } from '../../observability/metrics.ts';
import { connectionsMax } from './bounds.ts';

/**
 * Logs that connections beyond `connectionsMax` are closed. The first one is logged at once. After that, their number
 * is logged at most once per `everyMs`, and when the server closes.
 */
export function logRefusedConnections(server: Server, clock: Clock, log: Log, everyMs = minuteMs): void {
  let count = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    if (count === 0) return;
    log.warn({ refused: count, connectionsMax }, 'too many connections are open');
    count = 0;
    loggedAtMs = clock();
  }

  server.on('drop', () => {
    count += 1;
    if (clock() >= loggedAtMs + everyMs) write();
    else timer ??= setTimeout(write, everyMs).unref();
  });
  server.once('close', write);
}

/** Counts refused connections in the metric `connections_refused_total`. */
export function countRefusedConnections(server: Server, registry: Registry): void {
  let count = 0;

  expose(
    registry,
    {
      name: 'connections_refused_total',
      type: 'counter',
      help: 'Connections closed because too many were open.',
    },
    () => [{ labels: {}, value: count }],
  );

  server.on('drop', () => {
    count += 1;
  });
}
