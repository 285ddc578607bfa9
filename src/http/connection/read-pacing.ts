import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressSubject } from '../../limits/rules/address.ts';
import { createFairQueue } from './fair-queue.ts';

/** How long reading pipelined requests may take in one turn of the event loop, in milliseconds. */
export const turnMsMax = 50;
/** How many paused connections are read in a turn. One read returns 64 KiB, which take up to 7 ms to parse. */
export const connectionsPerTurn = 8;

/** Backpressure: decides which connections are read. */
export interface ReadPacing {
  /** The address of a connection, in the form in which requests without a key are counted. */
  ownerOf(socket: Socket): string;
  /** Stops reading a connection until it is resumed. */
  pause(socket: Socket): void;
  /** Resumes reading a connection in a later turn. The addresses take turns. */
  resume(socket: Socket): void;
  /** Records pipelined requests. If reading them takes too long, the connections not read yet wait for later turns. */
  notePipelining(socket: Socket): void;
}

/** Paces the reading of all connections of a server. */
export function createReadPacing(server: Server): ReadPacing {
  const owners = new Map<Socket, string>();
  const ownerOf = (socket: Socket) => owners.get(socket) ?? '';
  const { pause, resume, isPaused, stayPaused, forget } = createPausing(ownerOf);
  const becomesLong = createTurnWatch();

  server.on('connection', (socket: Socket) => {
    owners.set(socket, addressSubject(socket.remoteAddress ?? ''));
    socket.on('resume', () => stayPaused(socket));
    socket.once('close', () => {
      owners.delete(socket);
      forget(socket);
    });
  });

  return {
    ownerOf,
    pause,
    resume(socket) {
      if (owners.has(socket)) resume(socket);
    },
    notePipelining(socket) {
      if (!becomesLong()) return;
      for (const other of owners.keys())
        if (other !== socket && !isPaused(other)) {
          pause(other);
          resume(other);
        }
    },
  };
}

function createPausing(ownerOf: (socket: Socket) => string) {
  const paused = new Set<Socket>();
  /** Paused connections that will be resumed, each with a function that cancels it. */
  const resuming = new Map<Socket, () => void>();
  const queue = createFairQueue(connectionsPerTurn);

  return {
    pause(socket: Socket): void {
      paused.add(socket);
      socket.pause();
    },

    resume(socket: Socket): void {
      if (resuming.has(socket)) return;
      const withdraw = queue.add(ownerOf(socket), () => {
        resuming.delete(socket);
        paused.delete(socket);
        socket.resume();
      });
      resuming.set(socket, withdraw);
    },

    isPaused: (socket: Socket) => paused.has(socket),

    /**
     * Reading a body resumes its connection. If the connection is paused, `pause` does nothing, but Node reacts to the
     * event.
     */
    stayPaused(socket: Socket): void {
      if (!paused.has(socket)) return;
      socket.pause();
      socket.emit('pause');
    },

    forget(socket: Socket): void {
      paused.delete(socket);
      resuming.get(socket)?.();
      resuming.delete(socket);
    },
  };
}

/** Returns true once in a turn of the event loop, when reading pipelined requests takes too long. */
function createTurnWatch(): () => boolean {
  let startedAtMs = 0;
  let isLong = false;

  function start(nowMs: number): void {
    startedAtMs = nowMs;
    setImmediate(() => {
      startedAtMs = 0;
      isLong = false;
    });
  }

  return () => {
    const nowMs = performance.now();
    if (startedAtMs === 0) start(nowMs);
    if (isLong || nowMs - startedAtMs <= turnMsMax) return false;
    isLong = true;
    return true;
  };
}
