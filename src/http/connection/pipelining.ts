import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Arrivals } from './arrivals.ts';
import { createFairQueue } from './fair-queue.ts';
import type { InFlight } from './in-flight.ts';
import type { ReadPacing } from './read-pacing.ts';

/** How many requests may wait on one connection. */
export const waitingRequestsMax = 1_000;
/** What the requests that wait on all connections may hold together, in bytes. */
export const waitingBytesMax = 256 * 2 ** 20;
/** How many requests that waited are handled in a turn of the event loop; each takes about 20 us. */
export const requestsPerTurn = 100;

/** What a request takes that waits, besides its headers: its objects. */
const requestBytes = 4_096;
const headerTextBytes = 48;
/** 32 headers, a name and a value each. */
const fewHeaderTexts = 2 * 32;

interface Line {
  waiting: number;
  bytes: number;
  /** Withdraws the request that is next. */
  withdraw: () => void;
}

/**
 * One request in flight a connection: pipelined requests wait in a bounded queue until those before them are answered,
 * and nothing more is read from their connection (backpressure). They are handled a bounded number a turn of the event
 * loop, address by address, so that everyone else is served in between. A connection that brings more than may wait is
 * closed.
 *
 * While connections arrive only some requests a turn are handled without waiting.
 *
 * A request with many headers always waits for a next turn: in the middle of such a head Node ends the answer before it,
 * so none of many in one packet would find another one in flight.
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
    // A response gets its socket when all before it have been sent.
    if (response.socket === null) response.once('socket', enqueue);
    else enqueue();
  }

  function begin(line: Line, bytes: number, request: IncomingMessage, response: ServerResponse): void {
    line.withdraw = ignore;
    lines.count(line, -1, bytes);
    if (line.waiting === 0) pacing.resume(request.socket);
    // Only a request with a body is to be found from now on, and its handler notes it again.
    inFlight.end(request.socket, response);
    if (request.socket.writable) handle(request, response);
  }

  return (request, response) => {
    // What arrives on a connection that is being closed cannot be answered.
    if (!request.socket.writable) return;
    const isFirst = response.socket !== null && request.rawHeaders.length <= fewHeaderTexts;
    if (isFirst && arrivals.admit()) handle(request, response);
    else wait(request, response);
  };
}

const ignore = () => {};

/** The lines of all connections, which together hold at most `bytesMax`. */
function createLines(bytesMax: number) {
  const lines = new WeakMap<Socket, Line>();
  let allBytes = 0;

  return {
    find(socket: Socket): Line {
      const known = lines.get(socket);
      if (known !== undefined) return known;
      const line: Line = { waiting: 0, bytes: 0, withdraw: ignore };
      lines.set(socket, line);
      socket.once('close', () => {
        allBytes -= line.bytes;
        line.withdraw();
      });
      return line;
    },

    /** One may always wait: a client that does not pipeline can be faster than the end of its last answer is noticed. */
    hasRoom(line: Line, bytes: number): boolean {
      return line.waiting === 0 || (line.waiting < waitingRequestsMax && allBytes + bytes <= bytesMax);
    },

    count(line: Line, step: 1 | -1, bytes: number): void {
      line.waiting += step;
      line.bytes += step * bytes;
      allBytes += step * bytes;
    },
  };
}

/** What a waiting request takes in memory. */
function countBytes({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + headerTextBytes + text.length, requestBytes);
}
