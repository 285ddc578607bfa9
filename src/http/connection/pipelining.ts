import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from '../request/body.ts';
import type { Arrivals } from './arrivals.ts';
import { createFairQueue } from './fair-queue.ts';
import type { InFlight } from './in-flight.ts';
import type { ReadPacing } from './read-pacing.ts';

/** Maximum number of waiting requests on one connection. */
export const waitingRequestsMax = 1_000;
/** Maximum memory in bytes of the waiting requests of all connections together. */
export const waitingBytesMax = 256 * 2 ** 20;
/** Maximum number of waiting requests that are handled in one turn of the event loop. Each takes about 20 us. */
export const requestsPerTurn = 100;

/** Memory of a waiting request without its headers, in bytes. */
const requestBytes = 4_096;
/** Memory of a header name or value besides its characters, in bytes. */
const headerTextBytes = 48;
/** The names and values of 32 headers. */
const fewHeaderTexts = 2 * 32;

interface WaitingLine {
  waiting: number;
  bytes: number;
  /** Removes the next request from the queue. */
  withdraw: () => void;
}

/**
 * Handles one request of a connection at a time. Pipelined requests wait in a bounded queue until the earlier requests
 * are answered. Meanwhile nothing more is read from the connection (backpressure). A connection that exceeds the bounds
 * of the queue is closed.
 *
 * A turn of the event loop handles at most `requestsPerTurn` waiting requests. Addresses take turns, so that one client
 * does not delay the others. While connections arrive, `arrivals` also limits the requests that are handled without
 * waiting.
 *
 * A request with more than 32 headers always waits for the next turn, because Node ends the previous response while it
 * parses such a head. Without this rule, a packet of many such requests would be handled in one turn: no request would
 * find another one in flight.
 */
export function handleInOrder(
  handle: RequestListener,
  inFlight: InFlight,
  pacing: ReadPacing,
  arrivals: Arrivals,
  bytesMax = waitingBytesMax,
): RequestListener {
  const lines = createLines(bytesMax);
  const queue = createFairQueue(requestsPerTurn);

  function wait(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    pacing.notePipelining(socket);
    const line = lines.find(socket);
    const bytes = countBytes(request);
    if (!lines.hasRoom(line, bytes)) {
      socket.destroy();
      return;
    }
    lines.count(line, 1, bytes);
    pacing.pause(socket);
    inFlight.wait(socket, response);
    const enqueue = () => {
      line.withdraw = queue.add(pacing.ownerOf(socket), () => begin(line, bytes, request, response));
    };
    // Node assigns the socket once all earlier responses are sent.
    if (response.socket === null) response.once('socket', enqueue);
    else enqueue();
  }

  function begin(line: WaitingLine, bytes: number, request: IncomingMessage, response: ServerResponse): void {
    line.withdraw = ignore;
    lines.count(line, -1, bytes);
    if (line.waiting === 0) pacing.resume(request.socket);
    // The handler records the request again if the connection must still find it.
    inFlight.end(request.socket, response);
    if (request.socket.writable) run(request, response);
  }

  function run(request: IncomingMessage, response: ServerResponse): void {
    handle(request, response);
    if (!hasBody(request.headers)) return;
    if (response.headersSent) paceUnread(request, pacing);
    else response.once('prefinish', () => paceUnread(request, pacing));
  }

  return (request, response) => {
    // A request on a closing connection cannot be answered.
    if (!request.socket.writable) return;
    const isFirst = response.socket !== null && request.rawHeaders.length <= fewHeaderTexts;
    if (isFirst && arrivals.admit()) run(request, response);
    else wait(request, response);
  };
}

/** Number of chunks of an unread body after which its connection waits for its next turn. */
const chunksPerTurn = 64;

/**
 * Discards the rest of the body of an answered request. Node would read it as fast as it arrives, and tiny chunks would
 * delay all other clients.
 */
function paceUnread(request: IncomingMessage, pacing: ReadPacing): void {
  if (request.complete) return;
  pacing.postpone(request.socket);
  let chunks = 0;
  request.on('data', () => {
    chunks += 1;
    if (chunks % chunksPerTurn === 0) pacing.postpone(request.socket);
  });
}

const ignore = () => {};

/** The queues of all connections. Together they hold at most `bytesMax`. */
function createLines(bytesMax: number) {
  const lines = new WeakMap<Socket, WaitingLine>();
  let allBytes = 0;

  return {
    find(socket: Socket): WaitingLine {
      const known = lines.get(socket);
      if (known !== undefined) return known;
      const line: WaitingLine = { waiting: 0, bytes: 0, withdraw: ignore };
      lines.set(socket, line);
      socket.once('close', () => {
        allBytes -= line.bytes;
        line.withdraw();
      });
      return line;
    },

    /**
     * True if one more request may wait. The first request may always wait: even without pipelining, a client can send
     * a request before the server notices that the previous response is sent.
     */
    hasRoom(line: WaitingLine, bytes: number): boolean {
      return line.waiting === 0 || (line.waiting < waitingRequestsMax && allBytes + bytes <= bytesMax);
    },

    count(line: WaitingLine, step: 1 | -1, bytes: number): void {
      line.waiting += step;
      line.bytes += step * bytes;
      allBytes += step * bytes;
    },
  };
}

/** Estimates the memory of a waiting request in bytes. */
function countBytes({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + headerTextBytes + text.length, requestBytes);
}
