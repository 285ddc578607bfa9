import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Turns } from './turns.ts';

/** How many requests may wait for their turn on one connection (docs/settings.md). */
export const waitingRequestsMax = 1_000;
/** How many may wait on all connections together, each in 5 to 10 KB. */
export const allWaitingRequestsMax = 50_000;

interface Line {
  waiting: number;
}

/**
 * Has pipelined requests handled one after the other, each in its own round of the event loop: those that come by the
 * thousand on some connections let the requests of all others through in between. A connection that brings more than
 * may wait is closed.
 */
export function inTurn(
  handle: RequestListener,
  turns: Turns,
  allMax = allWaitingRequestsMax,
): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  let allWaiting = 0;

  function findLine(socket: Socket): Line {
    const known = lines.get(socket);
    if (known !== undefined) return known;
    const line = { waiting: 0 };
    lines.set(socket, line);
    socket.once('close', () => {
      allWaiting -= line.waiting;
      line.waiting = 0;
    });
    return line;
  }

  function wait(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    if (socket.destroyed) return;
    const line = findLine(socket);
    // One may always wait: a client that does not pipeline can be quicker than the end of its last answer is noticed.
    if (line.waiting > 0 && (line.waiting === waitingRequestsMax || allWaiting >= allMax)) {
      socket.destroy();
      return;
    }
    line.waiting += 1;
    allWaiting += 1;
    turns.wait(socket, response);
    response.once('socket', () => setImmediate(begin, line, request, response));
  }

  function begin(line: Line, request: IncomingMessage, response: ServerResponse): void {
    if (line.waiting > 0) {
      line.waiting -= 1;
      allWaiting -= 1;
    }
    handle(request, response);
  }

  return (request, response) => {
    // A response gets its socket when all before it on the connection have been sent.
    if (response.socket === null) wait(request, response);
    else handle(request, response);
  };
}
