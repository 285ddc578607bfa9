import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressSubject } from '../../limits/rules/address.ts';
import { createFairQueue } from './fair-queue.ts';

/** Maximum time in ms for reading pipelined requests and unread bodies in one turn of the event loop. */
export const turnMsMax = 50;
/**
 * Maximum number of paused connections that are resumed in one turn. One read returns 64 KiB, which take up to 7 ms to
 * parse.
 */
export const connectionsPerTurn = 8;
/**
 * Maximum number of connections with an unread body that are read in one turn. One read returns 64 KiB, which take up
 * to 20 ms to parse if they consist of tiny chunks.
 */
export const unreadBodiesPerTurn = 1;

/** Decides which connections are read (backpressure). */
export interface ReadPacing {
  /**
   * Returns the subject under which keyless requests from the connection's address are counted
   * (limits/rules/address.ts).
   */
  ownerOf(socket: Socket): string;
  /** Stops reading a connection until `resume` is called. */
  pause(socket: Socket): void;
  /** Resumes reading a connection in a later turn of the event loop. The addresses take turns. */
  resume(socket: Socket): void;
  /**
   * Stops reading a connection that sends a body which nobody reads, until its next turn. The addresses take turns. Also
   * counts as a pipelined request for `turnMsMax`.
   */
  postpone(socket: Socket): void;
  /**
   * Records a pipelined request. If reading such requests exceeds `turnMsMax` in this turn, all other connections are
   * paused and read in later turns.
   */
  notePipelining(socket: Socket): void;
}

export function createReadPacing(server: Server): ReadPacing {
  const owners = new Map<Socket, string>();
  const ownerOf = (socket: Socket) => owners.get(socket) ?? '';
  const { pause, resume, postpone, isPaused, isFresh, stayPaused, forget } = createPausing(ownerOf);
  const becomesLong = createTurnWatch();

  /** If the turn has become long, pauses all other connections until later turns. */
  function shortenTurn(socket: Socket): void {
    if (!becomesLong()) return;
    for (const other of owners.keys())
      if (other !== socket && !isPaused(other) && !isFresh(other)) {
        pause(other);
        resume(other);
      }
  }

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
    postpone(socket) {
      shortenTurn(socket);
      if (owners.has(socket) && !isPaused(socket)) postpone(socket);
    },
    notePipelining: shortenTurn,
  };
}

function createPausing(ownerOf: (socket: Socket) => string) {
  const paused = new Set<Socket>();
  /** Paused connections that are scheduled to resume, each with a function that cancels the resume. */
  const resuming = new Map<Socket, () => void>();
  /** Connections that were resumed in this turn. They stay resumed, so that each of them is read in its turn. */
  const fresh = new Set<Socket>();
  const queue = createFairQueue(connectionsPerTurn);
  const unread = createFairQueue(unreadBodiesPerTurn);

  function pause(socket: Socket): void {
    withdraw(socket);
    paused.add(socket);
    socket.pause();
  }

  function resume(socket: Socket, turns = queue): void {
    if (resuming.has(socket)) return;
    const leave = turns.add(ownerOf(socket), () => {
      resuming.delete(socket);
      paused.delete(socket);
      fresh.add(socket);
      setImmediate(() => fresh.delete(socket));
      socket.resume();
    });
    resuming.set(socket, leave);
  }

  function withdraw(socket: Socket): void {
    resuming.get(socket)?.();
    resuming.delete(socket);
  }

  return {
    pause,
    resume,
    postpone(socket: Socket): void {
      pause(socket);
      resume(socket, unread);
    },

    isPaused: (socket: Socket) => paused.has(socket),
    isFresh: (socket: Socket) => fresh.has(socket),

    /**
     * Node resumes a connection to read a body. This function pauses the connection again. `socket.pause()` has no
     * effect here. Node reacts to the `pause` event, so the function emits this event.
     */
    stayPaused(socket: Socket): void {
      if (!paused.has(socket)) return;
      socket.pause();
      socket.emit('pause');
    },

    forget(socket: Socket): void {
      paused.delete(socket);
      withdraw(socket);
    },
  };
}

/**
 * Returns a function to call for each pipelined request and each part of an unread body. The function returns true when
 * reading them exceeds `turnMsMax` in a turn of the event loop, but only once in each turn.
 */
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
