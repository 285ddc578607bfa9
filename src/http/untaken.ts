import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const lookMsMax = 1_000;

/**
 * Cuts off clients that take nothing of what they are sent: a connection on which something waits to be taken gets
 * `untakenMs` for some of it to go, and again as long as some does. Connections are looked through for that once a
 * second, as a timer on each (`server.timeout`) would cost every request, and nearly none has anything waiting.
 */
export function cutOffUntaken(server: Server, untakenMs: number): void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const looking = setInterval(
    () => {
      for (const socket of open)
        if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(untakenMs);
    },
    Math.min(lookMsMax, untakenMs / 4),
  );
  looking.unref();
  server.once('close', () => clearInterval(looking));
}
