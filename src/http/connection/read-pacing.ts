import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressSubject } from '../../limits/rules/address.ts';
import { createFairQueue } from './fair-queue.ts';

/** How long pipelined requests may be read in one turn of the event loop, in milliseconds. */
export const turnMsMax = 50;
/** How many paused connections are read in a turn: one reading brings 64 KiB, which take up to 7 ms to parse. */
export const connectionsPerTurn = 8;

/** Backpressure: which connections are read. */
export interface ReadPacing {
  /** The address of a connection, as requests without a key are counted. */
  ownerOf(socket: Socket): string;
  /** Reads nothing more from a connection until it is resumed. */
  pause(socket: Socket): void;
  /** Reads on in turn; the addresses take turns. */
  resume(socket: Socket): void;
  /** Notes pipelined requests. If reading them takes too long, the connections that are not read yet wait for later turns. */
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
  /** Paused connections that are about to be resumed, with what withdraws that. */
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

    /** To read a body resumes its connection. Of one that is paused already `pause` does nothing, but Node heeds the event. */
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

/** Tells, once a turn of the event loop, that reading pipelined requests takes too long in it. */
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
