import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connectionsMax, countCheckMs, headerBytesMax, headersMax, type Timeouts } from './bounds.ts';
import { cutStalledReaders } from './stalled-readers.ts';

/**
 * Creates Node's HTTP server with our bounds. Listeners of `clientError` and `connect` handle requests that it cannot
 * parse.
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
      // Without it, every GET opens, drains and ends a stream that nothing reads.
      optimizeEmptyRequests: true,
      // Joined headers show repetition. If one copy won, a proxy could have read the other one.
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
 * Ignores an Upgrade and closes the connection after the answer. Node's parser drops the bytes that arrive in the same
 * packet after such a request, so it would continue in the middle of the next one.
 */
function endAfterUpgrade(server: Server): void {
  const end = ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
  };
  server.prependListener('request', end);
  server.prependListener('checkExpectation', end);
}
