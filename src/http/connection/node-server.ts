import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';
import { type Clock, minuteMs } from '../../clock.ts';
import type { Log } from '../../observability/log.ts';
import { expose } from '../../observability/metrics.ts';
import { connectionsMax, headerBytesMax, headersMax, type Timeouts } from './bounds.ts';

const checkMsMax = 1_000;

/** Creates an HTTP server with the bounds of bounds.ts. Its owner handles its events. */
export function createNodeServer(timeouts: Timeouts, openMax = connectionsMax): Server {
  const { headersMs, requestMs, keepAliveMs, untakenMs } = timeouts;
  const server = createServer({
    requireHostHeader: false,
    // Without this option, every GET opens, drains and ends a stream that nothing reads.
    optimizeEmptyRequests: true,
    // A repetition stays visible. Otherwise Node would keep one value, and a proxy might have used another one.
    joinDuplicateHeaders: true,
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.min(checkMsMax, headersMs / 10),
  });
  return Object.assign(server, {
    maxHeadersCount: headersMax,
    maxConnections: openMax,
    // Node closes a connection that neither receives nor sends a byte for this time. A client that reads no response
    // cannot extend it: Node stops reading from a connection whose responses pile up.
    timeout: untakenMs,
    // Otherwise Node closes a half-closed connection before its request begins (`answerAtOnce` in connections.ts).
    httpAllowHalfOpen: true,
  });
}

/** Counts the connections that Node refuses, and logs at most once a minute how many came since the last line. */
export function watchRefusedConnections(server: Server, registry: Registry, clock: Clock, log: Log): void {
  let count = 0;
  let logged = { count: 0, atMs: Number.NEGATIVE_INFINITY };

  const help = 'Connections closed because too many were open.';
  expose(registry, 'counter', 'connections_refused_total', help, () => count);

  server.on('drop', () => {
    count += 1;
    if (clock() < logged.atMs + minuteMs) return;
    log.warn(
      { refused: count - logged.count, connectionsMax: server.maxConnections },
      'too many connections are open',
    );
    logged = { count, atMs: clock() };
  });
}
