import type { Socket } from 'node:net';
import { addressSubject } from '../limits/rules/address.ts';
import { createRota, type Pace } from './rota.ts';

/**
 * How many connections that were stopped are read on in a turn of the event loop: what one reading brings, 64 KiB, takes
 * Node 7 ms to parse where it is a throng of short headers, and next to nothing where it is a plain request.
 */
export const connectionsPerTurn: Pace = { least: 2, most: 64 };

/** The open connections, and which of them are read. */
export interface Connections {
  /** A new one. It is read when its turn comes, after those who arrive beside it are there, or some ms are over. */
  add(socket: Socket): void;
  /** How many have come. */
  countArrivals(): number;
  /** Whose an open one is: its address, as it is counted without a key. */
  findOwner(socket: Socket): string;
  /** Reads nothing more from a connection until it is to go on. */
  stop(socket: Socket): void;
  /** Has a stopped connection read on in its turn; the addresses take turns. */
  goOn(socket: Socket): void;
  /** Stops all but one, each for so long as it takes to read those before it. */
  readGradually(but: Socket): void;
  /** Reads on all that wait for their turn to be read: the server is about to close those that seem idle. */
  readAll(): void;
}

export function createConnections(): Connections {
  /** With their owners. */
  const open = new Map<Socket, string>();
  const stopped = new Set<Socket>();
  /** Those stopped that are to go on, with what calls that off. */
  const queued = new Map<Socket, () => void>();
  let arrivals = 0;
  const countArrivals = () => arrivals;
  const reading = createRota(connectionsPerTurn, countArrivals);
  const findOwner = (socket: Socket) => open.get(socket) ?? '';

  function stop(socket: Socket): void {
    stopped.add(socket);
    socket.pause();
  }

  function start(socket: Socket): void {
    queued.delete(socket);
    stopped.delete(socket);
    socket.resume();
  }

  function goOn(socket: Socket): void {
    if (open.has(socket) && !queued.has(socket))
      queued.set(
        socket,
        reading(findOwner(socket), () => start(socket)),
      );
  }

  /** Whoever reads the body of a request sets its whole connection going. */
  function stayStopped(socket: Socket): void {
    if (!stopped.has(socket)) return;
    socket.pause();
    // Of one that was paused again before this event, as a new one is, `pause` does nothing: the event stops its reading.
    socket.emit('pause');
  }

  function forget(socket: Socket): void {
    open.delete(socket);
    stopped.delete(socket);
    // With its turn it would keep in memory all that it has brought.
    queued.get(socket)?.();
    queued.delete(socket);
  }

  return {
    add(socket) {
      arrivals += 1;
      open.set(socket, addressSubject(socket.remoteAddress ?? ''));
      socket.on('resume', () => stayStopped(socket));
      socket.once('close', () => forget(socket));
      stop(socket);
      goOn(socket);
    },
    countArrivals,
    findOwner,
    stop,
    goOn,
    readGradually(but) {
      for (const socket of open.keys())
        if (socket !== but && !stopped.has(socket)) {
          stop(socket);
          goOn(socket);
        }
    },
    readAll() {
      for (const [socket, callOff] of queued) {
        callOff();
        start(socket);
      }
    },
  };
}
