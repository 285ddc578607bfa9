import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import { createRota } from './rota.ts';
import type { Turns } from './turns.ts';

/** How many requests may wait for their turn on one connection (docs/settings.md). */
export const waitingRequestsMax = 1_000;
/** What those that wait on all connections may hold together, in bytes. */
export const waitingBytesMax = 256 * 2 ** 20;
/** How many requests that waited are handled in a turn of the event loop; each takes about 20 us. */
export const requestsPerTurn = 100;
/** How long a turn of the event loop may take, in milliseconds, before who is not yet read has to wait for the next. */
export const turnMsMax = 50;

/** More than a request takes that waits: its objects, and the two texts of each header with their places. */
const requestBytes = 4_096;
const headerTextBytes = 48;
/** Of how many connections that bring a request in a turn one looks at the clock; who brings two always does. */
const connectionsPerLook = 64;

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
 * A request waits until all before it on its connection have been answered, and the second of a turn at least for the
 * next turn: in the midst of one with many headers Node runs what sends the answer before it, so that none would wait,
 * and what is read on meanwhile, up to 2 MiB a connection, would keep everyone else waiting.
 */
export function inTurn(
  handle: RequestListener,
  turns: Turns,
  connections: Connections,
  bytesMax = waitingBytesMax,
): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  const handling = createRota(requestsPerTurn, connections.countArrivals);
  let allBytes = 0;
  /** Who has brought a request in this turn, and since when it goes on. */
  const brought = new Set<Socket>();
  let turnBeganAtMs = 0;
  let isLong = false;

  function endTurn(): void {
    brought.clear();
    isLong = false;
  }

  /** Whether a connection has brought none before in this turn. Where that has become long, ends what it reads. */
  function isFirstInTurn(socket: Socket): boolean {
    const { size } = brought;
    if (size === 0) {
      turnBeganAtMs = performance.now();
      setImmediate(endTurn);
    }
    const isFirst = brought.add(socket).size > size;
    const isLook = !isFirst || brought.size % connectionsPerLook === 0;
    if (isLook && !isLong && performance.now() - turnBeganAtMs > turnMsMax) {
      isLong = true;
      connections.readGradually(brought);
    }
    return isFirst;
  }

  function findLine(socket: Socket): Line {
    const known = lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { waiting: 0, bytes: 0, callOff: () => {} };
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
    if (socket.destroyed) return;
    const line = findLine(socket);
    const bytes = requestBytes + headerTextBytes * request.rawHeaders.length;
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
      line.callOff = handling(socket.remoteAddress ?? '', () => begin(line, bytes, request, response));
    };
    // A response gets its socket when all before it on the connection have been sent.
    if (response.socket === null) response.once('socket', takeTurn);
    else takeTurn();
  }

  function begin(line: Line, bytes: number, request: IncomingMessage, response: ServerResponse): void {
    note(line, -1, bytes);
    if (line.waiting === 0) connections.goOn(request.socket);
    handle(request, response);
  }

  return (request, response) => {
    if (isFirstInTurn(request.socket) && response.socket !== null) handle(request, response);
    else wait(request, response);
  };
}
