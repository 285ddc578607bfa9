import { createServer, type Server } from 'node:http';
import { headerBytesMax, headersMax, type Timeouts } from './bounds.ts';

const checkMsMax = 1_000;

/**
 * Creates an HTTP server with the bounds of bounds.ts. Its owner handles the events `request`, `checkContinue` and
 * `checkExpectation`, and for requests that cannot be parsed `clientError` and `connect`.
 */
export function createNodeServer(timeouts: Timeouts, connectionsMax: number): Server {
  const { headersMs, requestMs, keepAliveMs, untakenMs } = timeouts;
  const server = createServer({
    requireHostHeader: false,
    // Without this option, every GET opens, drains and ends a stream that nothing reads.
    optimizeEmptyRequests: true,
    // Joins repeated headers, so that the repetition is visible. Otherwise Node would keep one value, and a proxy
    // might have used another one.
    joinDuplicateHeaders: true,
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.min(checkMsMax, headersMs / 10),
  });
  server.maxHeadersCount = headersMax;
  server.maxConnections = connectionsMax;
  // Node closes a connection that neither receives nor sends a byte for this time. A client that reads no response
  // cannot extend it: Node stops reading from a connection whose responses pile up.
  server.timeout = untakenMs;
  return server;
}
