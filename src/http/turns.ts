import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/** A request that is being answered. */
export interface Turn {
  readonly response: ServerResponse;
  /** As the framework knows it; null where the request has not come to it. */
  readonly reply: FastifyReply | null;
}

/** The latest request of each connection, while it waits for its turn or is being answered. */
export interface Turns {
  /** A request comes while others are before it. */
  wait(socket: Socket, response: ServerResponse): void;
  /** A request is about to be answered; where another waits behind it, that stays the latest. */
  begin(socket: Socket, turn: Turn): void;
  /** Forgets a turn: an idle connection must not hold its last request, with its body, in memory. */
  end(socket: Socket, response: ServerResponse): void;
  find(socket: Socket): Turn | undefined;
}

export function createTurns(): Turns {
  const latest = new WeakMap<Socket, Turn>();

  return {
    wait: (socket, response) => {
      latest.set(socket, { response, reply: null });
    },
    begin: (socket, turn) => {
      const last = latest.get(socket)?.response;
      const isBehind = last !== undefined && last !== turn.response && isWaiting(last);
      if (!isBehind) latest.set(socket, turn);
    },
    end: (socket, response) => {
      if (latest.get(socket)?.response === response) latest.delete(socket);
    },
    find: (socket) => latest.get(socket),
  };
}

/** It has no socket until all before it on its connection have been sent. */
function isWaiting(response: ServerResponse): boolean {
  return response.socket === null && !response.writableEnded;
}
