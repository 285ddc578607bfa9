import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Arrivals } from './arrivals.ts';
import { createFairQueue } from './fair-queue.ts';
import type { InFlight } from './in-flight.ts';
import type { ReadPacing } from './read-pacing.ts';

/** The most requests that wait on one connection. */
export const waitingRequestsMax = 1_000;
/** The most bytes that the waiting requests of all connections hold together. */
export const waitingBytesMax = 256 * 2 ** 20;
/** How many waiting requests are handled in a turn of the event loop. Each takes about 20 us. */
export const requestsPerTurn = 100;

/** The memory of a waiting request without its headers, in bytes. */
const requestBytes = 4_096;
const headerTextBytes = 48;
/** 32 headers with a name and a value each. */
const fewHeaderTexts = 2 * 32;

interface WaitingLine {
  waiting: number;
  bytes: number;
  /** Removes the next request from the queue. */
  withdraw: () => void;
}

/**
 * Handles one request of a connection at a time. Pipelined requests wait in a bounded queue until those before them are
 * answered, and nothing more is read from their connection (backpressure). A bounded number is handled in each turn of
 * the event loop, address by address, so that other clients are served in between. A connection that exceeds the queue
 * is closed.
 *
 * While connections arrive, only some requests of a turn are handled without waiting.
 *
 * A request with many headers always waits for the next turn. Node ends the previous answer while it parses such a
 * head, so many of them in one packet would never find another request in flight.
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
    // A response gets its socket once all responses before it are sent.
    if (response.socket === null) response.once('socket', enqueue);
    else enqueue();
  }

  function begin(line: WaitingLine, bytes: number, request: IncomingMessage, response: ServerResponse): void {
    line.withdraw = ignore;
    lines.count(line, -1, bytes);
    if (line.waiting === 0) pacing.resume(request.socket);
    // From now on only a request with a body must be found, and its handler records it again.
    inFlight.end(request.socket, response);
    if (request.socket.writable) handle(request, response);
  }

  return (request, response) => {
    // A request on a closing connection cannot be answered.
    if (!request.socket.writable) return;
    const isFirst = response.socket !== null && request.rawHeaders.length <= fewHeaderTexts;
    if (isFirst && arrivals.admit()) handle(request, response);
    else wait(request, response);
  };
}

const ignore = () => {};

/** The queues of all connections, which together hold at most `bytesMax`. */
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
     * One request may always wait. Even without pipelining, a client can send a request before the server notices that
     * its last answer is sent.
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

/** The memory of a waiting request, in bytes. */
function countBytes({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + headerTextBytes + text.length, requestBytes);
}
