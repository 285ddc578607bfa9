import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
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
  endAfterUpgrade(server);
  return server;
}

/**
 * An Upgrade is ignored, and its connection ends with the answer: Node's parser drops what comes in one packet behind
 * such a request, and would go on reading in the middle of it.
 */
function endAfterUpgrade(server: Server): void {
  const end = ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
  };
  server.prependListener('request', end);
  server.prependListener('checkExpectation', end);
}
