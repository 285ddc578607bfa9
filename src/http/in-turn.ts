import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import type { Outbox } from './outbox.ts';
import { createRota } from './rota.ts';
import type { Turns } from './turns.ts';

/** How many requests may wait for their turn on one connection (docs/settings.md). */
export const waitingRequestsMax = 1_000;
/** What those that wait on all connections may hold together, in bytes. */
export const waitingBytesMax = 256 * 2 ** 20;
/** How many requests that waited are handled in a turn of the event loop; each takes about 20 us. */
export const requestsPerTurn = 100;
/** How long throngs of requests may take of a turn, in milliseconds, before who is not yet read has to wait. */
export const throngMsMax = 50;

/** More than a request takes that waits: its objects, and the two texts of each header with their places. */
const requestBytes = 4_096;
const headerTextBytes = 48;
/** 32 headers, a name and a value each. In the midst of a longer head Node ends the answer before it (below). */
const fewHeaderTexts = 2 * 32;

interface Line {
  waiting: number;
  bytes: number;
  /** Calls off the request whose turn is next. */
  callOff: () => void;
}

/**
 * Has pipelined requests handled one after the other, some of all that wait in each turn of the event loop: those that
 * come by the thousand let the requests of all others through in between. While some wait nothing more is read from
 * their connection; one that has brought more than may wait is closed.
 *
 * A request waits until all before it on its connection have been answered. One with many headers always waits for a next
 * turn: in the midst of it Node runs what sends the answer before it, so that none of a throng of them would wait, and
 * what is read on meanwhile, up to 2 MiB a connection, would keep everyone else waiting.
 */
export function inTurn(
  handle: RequestListener,
  { turns, outbox, connections }: { turns: Turns; outbox: Outbox; connections: Connections },
  bytesMax = waitingBytesMax,
): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  const handling = createRota({ least: requestsPerTurn, most: requestsPerTurn }, connections.countArrivals);
  let allBytes = 0;
  /** When the first request of this turn came that waits; none has yet where it is zero. */
  let throngSinceMs = 0;
  let isLong = false;

  function endTurn(): void {
    throngSinceMs = 0;
    isLong = false;
  }

  /** Where throngs have taken too much of this turn, has those connections wait that are not read yet. */
  function boundTurn(socket: Socket): void {
    const nowMs = performance.now();
    if (throngSinceMs === 0) {
      throngSinceMs = nowMs;
      setImmediate(endTurn);
    } else if (!isLong && nowMs - throngSinceMs > throngMsMax) {
      isLong = true;
      connections.readGradually(socket);
    }
  }

  function findLine(socket: Socket): Line {
    const known = lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { waiting: 0, bytes: 0, callOff: callOffNothing };
    lines.set(socket, line);
    socket.once('close', () => {
      allBytes -= line.bytes;
      line.waiting = 0;
      line.bytes = 0;
      line.callOff();
    });
    return line;
  }

  function note(line: Line, count: 1 | -1, bytes: number): void {
    line.waiting += count;
    line.bytes += count * bytes;
    allBytes += count * bytes;
  }

  function wait(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // A throng takes its time to be read.
    outbox.flush();
    boundTurn(socket);
    const line = findLine(socket);
    const bytes = countBytes(request);
    // One may always wait: a client that does not pipeline can be quicker than the end of its last answer is noticed.
    const isFull = line.waiting === waitingRequestsMax || allBytes + bytes > bytesMax;
    if (line.waiting > 0 && isFull) {
      socket.destroy();
      return;
    }
    note(line, 1, bytes);
    connections.stop(socket);
    turns.wait(socket, response);
    const takeTurn = () => {
      line.callOff = handling(connections.findOwner(socket), () => begin(line, bytes, request, response));
    };
    // A response gets its socket when all before it on the connection have been sent.
    if (response.socket === null) response.once('socket', takeTurn);
    else takeTurn();
  }

  function begin(line: Line, bytes: number, request: IncomingMessage, response: ServerResponse): void {
    line.callOff = callOffNothing;
    note(line, -1, bytes);
    if (line.waiting === 0) connections.goOn(request.socket);
    if (request.socket.writable) handle(request, response);
    outbox.flush();
    // What takes the short way is answered by now, and an idle connection must not hold its last request.
    if (response.writableEnded) turns.end(request.socket, response);
  }

  return (request, response) => {
    // What comes on a connection that is being closed could be done, but not answered.
    if (!request.socket.writable) return;
    const isPlain = response.socket !== null && request.rawHeaders.length <= fewHeaderTexts;
    if (!isPlain) {
      wait(request, response);
      return;
    }
    outbox.hold();
    handle(request, response);
  };
}

const callOffNothing = () => {};

/** What a request takes in memory that waits. */
function countBytes({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + headerTextBytes + text.length, requestBytes);
}
