import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AppError } from '../../errors.ts';

/** A request that is not answered yet, or whose body has not arrived completely. */
export interface Pending {
  readonly response: ServerResponse;
  /** Fails the request because the rest of its body cannot be read. */
  breakOff(failure: AppError): void;
}

/** The latest unfinished request of each connection. */
export interface InFlight {
  /**
   * Records a request that waits for earlier requests. It stays the latest request while the earlier requests are
   * answered.
   */
  wait(socket: Socket, response: ServerResponse): void;
  /** Records a request that is being answered. */
  begin(socket: Socket, pending: Pending): void;
  /** Returns the error that made the body unreadable while the request waited, or null. */
  findFailure(response: ServerResponse): AppError | null;
  /** Forgets a request. Otherwise an idle connection would keep its last request in memory. */
  end(socket: Socket, response: ServerResponse): void;
  find(socket: Socket): Pending | undefined;
  /** Records that the last response of a connection is ready. Node closes the connection after this response. */
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

/**
 * True if an earlier response of the connection is not sent yet. Until then, Node assigns no socket to the response.
 */
function isWaiting(response: ServerResponse): boolean {
  return response.socket === null && !response.writableEnded;
}
