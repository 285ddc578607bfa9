import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** The number of connections that are opened at once. The queue of a listening socket has room for more. */
const atOnce = 200;
const connectMsMax = 3_000;

/** The port and the host of an origin, for `connect`. */
export function toAddress(origin: string): { readonly port: number; readonly host: string } {
  const { port, hostname } = new URL(origin);
  return { port: Number(port), host: hostname };
}

/** Opens connections. Resolves when all are connected or closed, and after 3 s at the latest. */
export async function openAll(count: number, open: () => Socket): Promise<void> {
  const late = pause(connectMsMax, undefined, { ref: false });
  for (let opened = 0; opened < count; opened += atOnce) {
    const sockets = Array.from({ length: Math.min(atOnce, count - opened) }, open);
    await Promise.race([Promise.all(sockets.map(untilConnected)), late]);
  }
}

function untilConnected(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve()).once('close', () => resolve());
  });
}
