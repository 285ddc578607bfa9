import { createServer, type RequestListener, type Server } from 'node:http';
import type { Connections } from './connections.ts';
import { cutOffUntaken } from './untaken.ts';

/** How long a client may take, in milliseconds (docs/settings.md). */
export interface Timeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long a connection is kept open for a next request. */
  readonly keepAliveMs: number;
  /**
   * How long a client may take nothing of what it is sent before it is cut off, whatever it sends meanwhile. More than
   * `requestMs`, whose end is answered.
   */
  readonly untakenMs: number;
}

export const defaultTimeouts: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 72_000,
  untakenMs: 40_000,
};

/** The most that the target, the names and the values in the head of a request may hold (docs/settings.md). */
export const headerBytesMax = 16 * 1024;

/** How many headers a request may have: each takes its time to parse, and with empty names and values hardly a byte. */
export const headersMax = 100;

/** What the extensions of a chunked body may hold together: Node's own bound, which cannot be set. */
export const chunkExtensionBytesMax = 16 * 1024;

/** How many connections may be open at once; one that waits takes about 15 KB (docs/settings.md). */
export const connectionsMax = 20_000;

const timeoutCheckMsMax = 1_000;

/** How often connections are looked at for having had their time, in milliseconds. */
export function countCheckMs({ headersMs }: Pick<Timeouts, 'headersMs'>): number {
  return Math.min(timeoutCheckMsMax, headersMs / 10);
}

/** Node's HTTP server with our bounds. What it cannot read is for listeners of `clientError` and `connect`. */
export function createHttpServer(
  handler: RequestListener,
  timeouts: Timeouts,
  connections: Connections,
  openMax = connectionsMax,
): Server {
  const { headersMs, requestMs, keepAliveMs, untakenMs } = timeouts;
  const server = createServer(
    {
      requireHostHeader: false,
      // A stream that nobody reads would be opened, drained and ended for each GET.
      optimizeEmptyRequests: true,
      // Of a repeated header neither copy may win: another program on the way may have read the other.
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
  cutOffUntaken(server, untakenMs);
  server.on('connection', connections.add);
  // An expectation that is not known here may be passed over (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handler);
  return server;
}
