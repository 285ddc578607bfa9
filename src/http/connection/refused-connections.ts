import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import { type Clock, minuteMs } from '../../clock.ts';
import type { Log } from '../../observability/log.ts';
import { exposeCounter } from '../../observability/metrics.ts';
import { connectionsMax } from './bounds.ts';

/**
 * Counts the connections beyond `connectionsMax`, which Node closes, in the metric `connections_refused_total`. Logs
 * them at most once a minute, each time with the number since the last line.
 */
export function watchRefusedConnections(server: Server, registry: Registry, clock: Clock, log: Log): void {
  let count = 0;
  let logged = { count: 0, atMs: Number.NEGATIVE_INFINITY };

  const help = 'Connections closed because too many were open.';
  exposeCounter(registry, 'connections_refused_total', help, () => count);

  server.on('drop', () => {
    count += 1;
    if (clock() < logged.atMs + minuteMs) return;
    log.warn({ refused: count - logged.count, connectionsMax }, 'too many connections are open');
    logged = { count, atMs: clock() };
  });
}
