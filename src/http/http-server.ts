import { createServer, type RequestListener, type Server } from 'node:http';

/** How long a client may take, in milliseconds (docs/settings.md). */
export interface Timeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long a connection is kept open for a next request. */
  readonly keepAliveMs: number;
}

export const defaultTimeouts: Timeouts = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 72_000 };

/** The most that the head of a request may hold (docs/settings.md). */
export const headerBytesMax = 16 * 1024;

const timeoutCheckMsMax = 1_000;

/** Node's HTTP server with our bounds. What it cannot read is for listeners of `clientError` and `connect`. */
export function createHttpServer(handler: RequestListener, timeouts: Timeouts): Server {
  const { headersMs, requestMs, keepAliveMs } = timeouts;
  const server = createServer(
    {
      requireHostHeader: false,
      // Of a repeated header neither copy may win: another program on the way may have read the other.
      joinDuplicateHeaders: true,
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: Math.min(timeoutCheckMsMax, headersMs / 10),
    },
    handler,
  );
  // An expectation that is not known here may be passed over (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handler);
  return server;
}
