import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '../../errors.ts';
import { type AnswerBatch, flushBeforeEnd } from './answer-batch.ts';
import { watchArrivals } from './arrivals.ts';
import { backlogMax, connectionsMax, type Timeouts } from './bounds.ts';
import { closeGracefully } from './graceful-shutdown.ts';
import type { InFlight } from './in-flight.ts';
import { createNodeServer } from './node-server.ts';
import { handleInOrder } from './pipelining.ts';
import { createReadPacing } from './read-pacing.ts';

/** A server that starts and stops. */
export interface HttpService {
  readonly server: Server;
  /**
   * Starts to listen. Returns the address under which this machine reaches it. Throws OperatorError if it cannot
   * listen.
   */
  listen(host: string, port: number): Promise<string>;
  /** The address under which this machine reaches the server, without a path. The server must listen. */
  findUrl(): string;
  /** Accepts no more connections, finishes running requests, and cuts the rest after `drainMs`. */
  close(drainMs: number): Promise<void>;
}

export interface HttpServiceOptions {
  readonly handle: RequestListener;
  readonly inFlight: InFlight;
  readonly batch: AnswerBatch;
  readonly timeouts: Timeouts;
  readonly connectionsMax?: number;
  /** Called first for every request that arrives. */
  readonly onArrival?: () => void;
  /** Called when the server begins to close. Requests that wait for something must be answered now. */
  readonly onClosing?: () => void;
}

/** Creates Node's server with all connection guards around a handler. */
export function createHttpService(options: HttpServiceOptions): HttpService {
  const { inFlight, timeouts, onArrival = () => {}, onClosing = () => {} } = options;
  let isClosing = false;
  const server = createNodeServer(
    (request, response) => {
      onArrival();
      // Every answer from now on has `Connection: close`.
      if (isClosing) response.shouldKeepAlive = false;
      handle(request, response);
    },
    timeouts,
    options.connectionsMax ?? connectionsMax,
  );
  const handle = handleInOrder(options.handle, inFlight, createReadPacing(server), watchArrivals(server));
  flushBeforeEnd(server, options.batch);

  return {
    server,
    async listen(host, port) {
      server.listen({ host, port, backlog: backlogMax });
      try {
        await once(server, 'listening');
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : String(error);
        const reason = code === 'EADDRINUSE' ? 'the port is taken' : String(code);
        throw new OperatorError(`cannot listen on ${host}:${port}: ${reason}`, { cause: error });
      }
      return urlOf(server, false);
    },
    findUrl: () => urlOf(server, true),
    async close(drainMs) {
      isClosing = true;
      onClosing();
      if (server.listening) await closeGracefully(server, drainMs);
    },
  };
}

/**
 * The URL of the server. If it must be reachable, an address that means all interfaces becomes the loopback address.
 */
function urlOf(server: Server, isReachable: boolean): string {
  const { address, family, port } = server.address() as AddressInfo;
  if (isReachable && (address === '0.0.0.0' || address === '::')) return `http://127.0.0.1:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
