import { Socket } from 'node:net';

/** The sockets of some connections, so that they can be closed although the server does not answer. */
export interface PostgresSockets {
  /** The driver's setting `stream`. */
  readonly stream: () => Socket;
  /** Destroys every socket. Pending queries fail. */
  destroy(): void;
  /** Lets the process exit although a server has not closed every connection yet. */
  unref(): void;
}

/** Starts empty. Keeps each socket until it closes. */
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
