import { Socket } from 'node:net';

/** The sockets of a group of connections. They can be closed even if the server does not answer. */
export interface PostgresSockets {
  /** Creates a socket. This is the driver's setting `stream`. */
  readonly stream: () => Socket;
  /** Destroys every socket. Pending queries fail. */
  destroy(): void;
  /** Lets the process exit even if the server has not closed every connection. */
  unref(): void;
}

/** Creates a group without sockets. A socket leaves the group when it closes. */
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
