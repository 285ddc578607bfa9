import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connectionsMax, countCheckMs, headerBytesMax, headersMax, type Timeouts } from './bounds.ts';
import { shareConnections } from './connection-shares.ts';
import { cutStalledReaders } from './stalled-readers.ts';

/**
 * Creates an HTTP server with the bounds of bounds.ts. The caller must listen to `clientError` and `connect`. Node
 * emits these events for requests that cannot be parsed and for CONNECT requests.
 */
export function createNodeServer(
  handler: RequestListener,
  timeouts: Timeouts,
  openMax = connectionsMax,
): Server {
  const { headersMs, requestMs, keepAliveMs, untakenMs } = timeouts;
  const server = createServer(
    {
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
      connectionsCheckingInterval: countCheckMs(timeouts),
    },
    handler,
  );
  server.maxHeadersCount = headersMax;
  shareConnections(server, openMax);
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handler);
  cutStalledReaders(server, untakenMs);
  endAfterUpgrade(server);
  return server;
}

/**
 * Closes the connection after the response to a request with `Upgrade`. The upgrade itself is ignored. Node's parser
 * drops the bytes that follow such a request in the same packet. If the connection stayed open, the parser would
 * continue in the middle of the next request.
 */
function endAfterUpgrade(server: Server): void {
  const end = ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
  };
  server.prependListener('request', end);
  server.prependListener('checkExpectation', end);
}
