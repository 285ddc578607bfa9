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
  /** Notes a request that waits behind others; it stays the latest while they are answered. */
  wait(socket: Socket, response: ServerResponse): void;
  /** Notes a request that is being answered. */
  begin(socket: Socket, pending: Pending): void;
  /** Why the body of a request broke off while it waited; null if it did not. */
  findFailure(response: ServerResponse): AppError | null;
  /** Forgets a request: an idle connection must not keep its last one in memory. */
  end(socket: Socket, response: ServerResponse): void;
  find(socket: Socket): Pending | undefined;
  /** Notes that the last answer of a connection is made: Node closes it then, and nothing behind it is answered. */
  close(socket: Socket): void;
  isClosing(socket: Socket): boolean;
}

export function createInFlight(): InFlight {
  const latest = new WeakMap<Socket, Pending>();
  const closing = new WeakSet<Socket>();
  const failures = new WeakMap<ServerResponse, AppError>();

  return {
    wait(socket, response) {
      const breakOff = (failure: AppError) => failures.set(response, failure);
      latest.set(socket, { response, breakOff });
    },
    findFailure: (response) => failures.get(response) ?? null,
    begin(socket, pending) {
      const last = latest.get(socket)?.response;
      const isBehind = last !== undefined && last !== pending.response && isWaiting(last);
      if (!isBehind) latest.set(socket, pending);
    },
    end(socket, response) {
      if (latest.get(socket)?.response === response) latest.delete(socket);
    },
    find: (socket) => latest.get(socket),
    close: (socket) => closing.add(socket),
    isClosing: (socket) => closing.has(socket),
  };
}

/** A response has no socket until all before it on its connection have been sent. */
function isWaiting(response: ServerResponse): boolean {
  return response.socket === null && !response.writableEnded;
}
