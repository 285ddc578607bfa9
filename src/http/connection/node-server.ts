import { createServer, type RequestListener, type Server } from 'node:http';
import { connectionsMax, countCheckMs, headerBytesMax, headersMax, type Timeouts } from './bounds.ts';
import { cutStalledReaders } from './stalled-readers.ts';

/** Node's HTTP server with our bounds. Requests that it cannot parse are for listeners of `clientError` and `connect`. */
export function createNodeServer(
  handler: RequestListener,
  timeouts: Timeouts,
  openMax = connectionsMax,
): Server {
  const { headersMs, requestMs, keepAliveMs, untakenMs } = timeouts;
  const server = createServer(
    {
      requireHostHeader: false,
      // Without it each GET opens, drains and ends a stream that nobody reads.
      optimizeEmptyRequests: true,
      // No copy of a repeated header wins: a proxy on the way may have read the other one.
      joinDuplicateHeaders: true,
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: countCheckMs(timeouts),
    },
    handler,
  );
  server.maxHeadersCount = headersMax;
  server.maxConnections = openMax;
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handler);
  cutStalledReaders(server, untakenMs);
  return server;
}
