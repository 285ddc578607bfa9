import type { Socket } from 'node:net';
import { createRota } from './rota.ts';

/**
 * How many connections begin to be read, or are read on, in a turn of the event loop: what one reading brings, 64 KiB,
 * takes Node 7 ms to parse where it is a throng of short headers.
 */
export const connectionsPerTurn = 2;

/** The open connections, and which of them are read. */
export interface Connections {
  /** A new one, which begins to be read in its turn: a crowd that comes at once must not hold up those who are here. */
  add(socket: Socket): void;
  /** How many have come. */
  countArrivals(): number;
  /** Reads nothing more from a connection until it is to go on. */
  stop(socket: Socket): void;
  /** Has a stopped connection read on in its turn; the addresses take turns. */
  goOn(socket: Socket): void;
  /** Stops all but these, each for so long as it takes to read those before it. */
  readGradually(but: ReadonlySet<Socket>): void;
}

export function createConnections(): Connections {
  const open = new Set<Socket>();
  /** With what calls off the going on of each that is to. */
  const stopped = new Map<Socket, () => void>();
  let arrivals = 0;
  const countArrivals = () => arrivals;
  const reading = createRota(connectionsPerTurn, countArrivals);

  function stop(socket: Socket): void {
    stopped.set(socket, () => {});
    socket.pause();
  }

  function goOn(socket: Socket): void {
    if (!open.has(socket)) return;
    const callOff = reading(socket.remoteAddress ?? '', () => {
      stopped.delete(socket);
      socket.resume();
    });
    stopped.set(socket, callOff);
  }

  /** Whoever reads the body of a request sets its whole connection going. */
  function stayStopped(socket: Socket): void {
    if (!stopped.has(socket)) return;
    socket.pause();
    // Where it was paused between being set going and this event, as a new one is, that did nothing.
    socket.emit('pause');
  }

  function forget(socket: Socket): void {
    open.delete(socket);
    // With its turn it would keep in memory all that it has brought.
    stopped.get(socket)?.();
    stopped.delete(socket);
  }

  return {
    add(socket) {
      arrivals += 1;
      open.add(socket);
      socket.on('resume', () => stayStopped(socket));
      socket.once('close', () => forget(socket));
      stop(socket);
      goOn(socket);
    },
    countArrivals,
    stop,
    goOn,
    readGradually(but) {
      for (const socket of open)
        if (!but.has(socket) && !stopped.has(socket)) {
          stop(socket);
          goOn(socket);
        }
    },
  };
}
