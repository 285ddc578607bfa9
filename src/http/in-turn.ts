import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Turns } from './turns.ts';

/** How many requests may wait for their turn on one connection (docs/settings.md). */
export const waitingRequestsMax = 1_000;
/** What those that wait on all connections may hold together, in bytes. */
export const waitingBytesMax = 256 * 2 ** 20;

/** More than a request takes that waits: its objects, and the two texts of each header with their places. */
const requestBytes = 4_096;
const headerTextBytes = 48;

interface Line {
  waiting: number;
  bytes: number;
}

/**
 * Has pipelined requests handled one after the other, each in its own round of the event loop: those that come by the
 * thousand on some connections let the requests of all others through in between. While some wait nothing more is read
 * from their connection; one that has brought more than may wait is closed.
 */
export function inTurn(handle: RequestListener, turns: Turns, bytesMax = waitingBytesMax): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  let allBytes = 0;

  function findLine(socket: Socket): Line {
    const known = lines.get(socket);
    if (known !== undefined) return known;
    const line = { waiting: 0, bytes: 0 };
    lines.set(socket, line);
    // Whoever reads the body of a request sets its whole connection going.
    socket.on('resume', () => {
      if (line.waiting > 0) socket.pause();
    });
    socket.once('close', () => {
      allBytes -= line.bytes;
      line.waiting = 0;
      line.bytes = 0;
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
    socket.pause();
    turns.wait(socket, response);
    response.once('socket', () => setImmediate(begin, line, bytes, request, response));
  }

  function begin(line: Line, bytes: number, request: IncomingMessage, response: ServerResponse): void {
    // Those of a connection that has been closed are let go already.
    if (line.waiting > 0) note(line, -1, bytes);
    if (line.waiting === 0) request.socket.resume();
    handle(request, response);
  }

  return (request, response) => {
    // A response gets its socket when all before it on the connection have been sent.
    if (response.socket === null) wait(request, response);
    else handle(request, response);
  };
}
