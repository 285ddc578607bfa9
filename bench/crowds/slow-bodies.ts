import { connect, type Socket } from 'node:net';
import type { Run } from './client.ts';
import { openAll, toAddress } from './sockets.ts';

/** Connections that each announce a large body and send one byte of it now and then. */
export interface SlowBodiesOrder {
  readonly kind: 'slow-bodies';
  readonly origin: string;
  readonly connections: number;
  readonly key: string;
}

export interface SlowBodiesSeen {
  /** The number of bodies that were begun, those after a closed connection included. */
  readonly begun: number;
}

/** The largest body that the service takes. */
const bodyBytes = 65_536;
const byteEveryMs = 1_000;

export async function runSlowBodies(
  order: SlowBodiesOrder,
  { onReady, stopped }: Run,
): Promise<SlowBodiesSeen> {
  const { key, connections } = order;
  const address = toAddress(order.origin);
  const head = `POST /v1/pets HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
  const sockets = new Set<Socket>();
  let begun = 0;

  function open(): Socket {
    const socket = connect(address, () => {
      begun += 1;
      socket.write(head);
    });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.resume();
    return socket;
  }

  await openAll(connections, open);
  onReady();
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(' ');
    void openAll(connections - sockets.size, open);
  }, byteEveryMs);
  await stopped;
  clearInterval(dripping);
  for (const socket of sockets) socket.destroy();
  return { begun };
}
