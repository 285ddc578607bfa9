import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Exchange } from '../exchange.ts';
import type { Pipeline } from '../pipeline.ts';
import { lingerBytesMax, lingerMs } from './bounds.ts';
import { createTurnQueue, type TurnQueue, type TurnQueueOptions } from './turn-queue.ts';

/** Maximum number of pipelined requests that wait on one connection. */
export const waitingRequestsMax = 50;
/** Maximum number of pipelined requests that wait on all connections together. Each takes at most 25 KB of memory besides its body. */
export const allWaitingRequestsMax = 10_000;

export interface ConnectionsOptions extends TurnQueueOptions {
  readonly allWaitingMax?: number;
}

export type Connections = ReturnType<typeof createConnections>;

interface Connection {
  /** The request whose response is not sent completely. */
  current: Exchange | null;
  /** The answered request whose body still arrives. */
  unread: Exchange | null;
  readonly waiting: Exchange[];
  /** What follows after all requests. From then on, requests that arrive are ignored. */
  last: (() => void) | null;
  /** True if it was accepted since `holdNew`. */
  readonly isNew: boolean;
}

interface All {
  /** Lets a request wait for its turn to begin. */
  readonly queue: (connection: Connection, exchange: Exchange) => void;
  waiting: number;
}

/** Runs the requests of each connection one after the other. They begin in the turns of one queue (turn-queue.ts). */
export function createConnections(
  server: Server,
  { open, run }: Pick<Pipeline, 'open' | 'run'>,
  { allWaitingMax = allWaitingRequestsMax, ...options }: ConnectionsOptions = {},
) {
  const turns = createTurnQueue(run, options);
  const connections = new WeakMap<Socket, Connection>();
  const { queue, isHolding, ...hold } = createHold(turns.add);
  const all: All = { queue, waiting: 0 };

  function find(socket: Socket): Connection {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection = openConnection(isHolding());
    connections.set(socket, connection);
    socket.once('end', () => answerAtOnce(turns, socket, connection));
    socket.once('close', () => {
      all.waiting -= connection.waiting.splice(0).length;
    });
    return connection;
  }
  server.on('connection', find);

  return {
    /** Runs a request after all earlier requests of its connection. Closes the connection if too many wait. */
    receive(request: IncomingMessage, response: ServerResponse, awaitsContinue = false): void {
      const { socket } = request;
      const connection = find(socket);
      // A request on a closing connection cannot be answered. After its timeout, a request may still arrive completely.
      if (!socket.writable || connection.last !== null) return;
      const exchange = open(request, response);
      exchange.awaitsContinue = awaitsContinue;
      if (connection.current === null) begin(all, connection, exchange);
      else if (connection.waiting.length < waitingRequestsMax && all.waiting < allWaitingMax) {
        all.waiting += 1;
        connection.waiting.push(exchange);
      } else socket.destroy();
    },

    /** Returns the request whose body arrives on a connection, answered or not. Null if none does. */
    findUnread(socket: Socket): Exchange | null {
      const { current, unread, waiting } = find(socket);
      const latest = waiting.at(-1) ?? current ?? unread;
      return latest?.request.complete === false ? latest : null;
    },

    isBusy: (socket: Socket): boolean => find(socket).current !== null,

    /** Calls `act`, which must close the connection, once its requests are answered. Later requests are ignored. */
    afterAll(socket: Socket, act: () => void): void {
      const connection = find(socket);
      connection.last = act;
      if (connection.current === null) act();
    },

    ...hold,
    /** Returns the number of requests that wait for their turn to begin. */
    countQueued: turns.count,
  };
}

/**
 * Most clients that half-close their connection have left. The others get their answer only if it is made within this turn
 * of the event loop.
 */
function answerAtOnce({ beginNow }: TurnQueue, socket: Socket, { current }: Connection): void {
  if (current === null) return;
  beginNow(current);
  setImmediate(() => socket.end());
}

/** Holds the requests of new connections while a shutdown waits for the last of them. */
function createHold(add: (exchange: Exchange) => void) {
  let held: Exchange[] | null = null;

  return {
    isHolding: () => held !== null,
    queue({ isNew }: Connection, exchange: Exchange): void {
      if (held !== null && isNew) held.push(exchange);
      else add(exchange);
    },
    /** From now on, the requests of connections that are accepted later wait for `releaseNew`. */
    holdNew(): void {
      held ??= [];
    },
    releaseNew(): void {
      for (const exchange of held ?? []) add(exchange);
      held = null;
    },
  };
}

function openConnection(isNew: boolean): Connection {
  return { current: null, unread: null, waiting: [], last: null, isNew };
}

function begin(all: All, connection: Connection, exchange: Exchange): void {
  connection.current = exchange;
  exchange.response.on('close', () => end(all, connection, exchange));
  all.queue(connection, exchange);
}

function end(all: All, connection: Connection, exchange: Exchange): void {
  connection.current = null;
  if (!exchange.request.complete) discardBody(connection, exchange);
  if (!exchange.request.socket.writable) return;
  const next = connection.waiting.shift();
  if (next === undefined) connection.last?.();
  else {
    all.waiting -= 1;
    // Its client chose to send it behind another one, so that time is no delay of the service.
    next.startedAtMs = performance.now();
    begin(all, connection, next);
  }
}

/** Bounds how much is read and dropped of the body of an answered request, and keeps the request while it arrives. */
function discardBody(connection: Connection, exchange: Exchange): void {
  const { request } = exchange;
  const { socket } = request;
  const readMax = socket.bytesRead + lingerBytesMax;
  connection.unread = exchange;
  request.on('data', () => {
    if (socket.bytesRead <= readMax) return;
    request.pause();
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  });
  request.once('close', () => {
    if (connection.unread === exchange) connection.unread = null;
  });
}
