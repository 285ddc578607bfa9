import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AppError } from '../../errors.ts';

/** A request whose answer, or whose body, is still to come. */
export interface Pending {
  readonly response: ServerResponse;
  /** Ends it early, as the rest of its body cannot be read. */
  breakOff(failure: AppError): void;
}

/** The latest request of each connection that is not done with. */
export interface InFlight {
  /** Notes a request. One that waits behind others stays the latest while they are answered. */
  begin(socket: Socket, pending: Pending): void;
  /** Forgets a request: an idle connection must not keep its last one in memory. */
  end(socket: Socket, response: ServerResponse): void;
  find(socket: Socket): Pending | undefined;
}

export function createInFlight(): InFlight {
  const latest = new WeakMap<Socket, Pending>();

  return {
    begin(socket, pending) {
      const last = latest.get(socket)?.response;
      const isBefore = last !== undefined && isWaiting(last) && !isWaiting(pending.response);
      if (!isBefore) latest.set(socket, pending);
    },
    end(socket, response) {
      if (latest.get(socket)?.response === response) latest.delete(socket);
    },
    find: (socket) => latest.get(socket),
  };
}

/** A response has no socket until all before it on its connection have been sent. */
function isWaiting(response: ServerResponse): boolean {
  return response.socket === null && !response.writableEnded;
}
