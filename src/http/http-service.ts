import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '../errors.ts';
import { backlogMax, type Timeouts } from './connection/bounds.ts';
import { type ConnectionsOptions, createConnections } from './connection/connections.ts';
import { closeGracefully } from './connection/graceful-shutdown.ts';
import { answerMalformed, type MakeMalformedAnswer } from './connection/malformed-requests.ts';
import { createNodeServer } from './connection/node-server.ts';
import { createPipeline, type PipelineOptions } from './pipeline.ts';
import { listMethods, type Route } from './route.ts';
import { createRouter } from './router.ts';

export type HttpService = ReturnType<typeof createHttpService>;

/** The parts in which the public server and the operator's server differ. */
export interface HttpServiceOptions extends Omit<PipelineOptions, 'router' | 'isClosing'> {
  readonly routes: readonly Route[];
  readonly makeMalformedAnswer: MakeMalformedAnswer;
  readonly timeouts: Timeouts;
  readonly connectionsMax?: number;
  /** The bound on the requests of a turn, and what is shared by them. */
  readonly turns: ConnectionsOptions;
  /** Called when the server begins to close. Must end all waits, so that the waiting requests are answered. */
  readonly onClosing?: () => void;
}

export function createHttpService(options: HttpServiceOptions) {
  const { routes, timeouts, onClosing = () => {} } = options;
  let isClosing = false;
  const server = createNodeServer(timeouts, options.connectionsMax);
  const pipeline = createPipeline({ ...options, router: createRouter(routes), isClosing: () => isClosing });
  const connections = createConnections(server, pipeline, options.turns);
  server.on('request', connections.receive);
  server.on('checkContinue', (request, response) => connections.receive(request, response, true));
  // An unknown expectation may be ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', connections.receive);
  answerMalformed(server, {
    connections,
    breakOff: pipeline.breakOff,
    methods: listMethods(routes),
    makeAnswer: options.makeMalformedAnswer,
    untakenMs: timeouts.untakenMs,
  });

  return {
    server,
    /** Returns the number of requests that wait for their turn to begin. */
    countQueued: connections.countQueued,
    /** Returns the URL with the bound address, which may be `0.0.0.0`. Throws OperatorError if it cannot listen. */
    async listen(host: string, port: number): Promise<string> {
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
    /** Returns the URL at which this machine can reach the server, without a path. The server must be listening. */
    findUrl: () => urlOf(server, true),
    /** From now on, every response ends its connection. The server still takes connections. */
    announceEnd(): void {
      isClosing = true;
    },
    /** Accepts no more connections and waits for running requests. Closes the rest after `drainMs`. */
    async close(drainMs: number): Promise<void> {
      isClosing = true;
      onClosing();
      options.pace?.end();
      if (server.listening) await closeGracefully(server, connections, drainMs);
    },
  };
}

/** Returns the URL of the server. If `isReachable`, the loopback address stands for all interfaces. */
function urlOf(server: Server, isReachable: boolean): string {
  const { address, family, port } = server.address() as AddressInfo;
  if (isReachable && (address === '0.0.0.0' || address === '::')) return `http://127.0.0.1:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
