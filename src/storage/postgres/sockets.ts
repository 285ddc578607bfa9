import { Socket } from 'node:net';

/** The sockets of some connections, so that a server which has fallen silent can be left without its consent. */
export interface PostgresSockets {
  /** For the driver's setting `stream`. */
  readonly stream: () => Socket;
  /** Breaks every connection; what waits for an answer on one fails. */
  destroy(): void;
  /** Lets the process end though a server has not yet taken leave of every connection. */
  unref(): void;
}

/** No sockets yet; each is kept until it has closed. */
export function createPostgresSockets(): PostgresSockets {
  const sockets = new Set<Socket>();
  return {
    stream() {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
    destroy() {
      for (const socket of sockets) socket.destroy();
    },
    unref() {
      for (const socket of sockets) socket.unref();
    },
  };
}
