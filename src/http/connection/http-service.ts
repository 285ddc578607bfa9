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

/** An HTTP server that can be started and stopped. */
export interface HttpService {
  readonly server: Server;
  /**
   * Starts to listen. Returns the URL with the bound address, which may be `0.0.0.0`. Throws OperatorError if the
   * server cannot listen.
   */
  listen(host: string, port: number): Promise<string>;
  /** Returns the URL at which this machine can reach the server, without a path. The server must be listening. */
  findUrl(): string;
  /** From now on, every response ends its connection. The server still takes connections. */
  announceEnd(): void;
  /** Accepts no more connections and waits for running requests. Closes the remaining connections after `drainMs`. */
  close(drainMs: number): Promise<void>;
}

export interface HttpServiceOptions {
  readonly handle: RequestListener;
  readonly inFlight: InFlight;
  readonly batch: AnswerBatch;
  readonly timeouts: Timeouts;
  readonly connectionsMax?: number;
  /** Called for every request before it is handled. */
  readonly onArrival?: () => void;
  /**
   * Called when the server begins to close. The callback must end all waits, so that the waiting requests are answered
   * now.
   */
  readonly onClosing?: () => void;
}

/**
 * Creates a server that calls `handle` for each request. Requests of one connection are handled in order. The caller
 * must also call `answerMalformed` (malformed-requests.ts).
 */
export function createHttpService(options: HttpServiceOptions): HttpService {
  const { inFlight, timeouts, onArrival = () => {}, onClosing = () => {} } = options;
  let isClosing = false;
  const server = createNodeServer(
    (request, response) => {
      onArrival();
      // During the shutdown, every response has `Connection: close`.
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
    announceEnd() {
      isClosing = true;
    },
    async close(drainMs) {
      isClosing = true;
      onClosing();
      if (server.listening) await closeGracefully(server, drainMs);
    },
  };
}

/**
 * Returns the URL of the server. If `isReachable`, an address that stands for all interfaces is replaced by the
 * loopback address.
 */
function urlOf(server: Server, isReachable: boolean): string {
  const { address, family, port } = server.address() as AddressInfo;
  if (isReachable && (address === '0.0.0.0' || address === '::')) return `http://127.0.0.1:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
