import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const lookMsMax = 1_000;

/** A connection on which something waits to be taken, as it was at the last look. */
interface Untaken {
  /** How many bytes had gone. */
  readonly gone: number;
  /** At how many looks in a row no more had. */
  readonly looks: number;
}

/**
 * Cuts off clients that take nothing of what they are sent: a connection on which something waits to be taken gets
 * `untakenMs` for some of it to go, and again as long as some does, whatever comes in meanwhile. Connections are looked
 * through for that once a second, as a timer on each (`server.timeout`) would cost every request and begin anew with
 * every byte that comes in, and nearly none has anything waiting.
 */
export function cutOffUntaken(server: Server, untakenMs: number): void {
  const lookMs = Math.min(lookMsMax, untakenMs / 4);
  const open = new Set<Socket>();
  let untaken = new Map<Socket, Untaken>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  function look(): void {
    const before = untaken;
    untaken = new Map();
    for (const socket of open) {
      if (socket.writableLength === 0) continue;
      const gone = countGone(socket);
      const last = before.get(socket);
      const looks = last?.gone === gone ? last.looks + 1 : 0;
      if (looks * lookMs >= untakenMs) socket.destroy();
      else untaken.set(socket, { gone, looks });
    }
  }

  const looking = setInterval(look, lookMs);
  looking.unref();
  server.once('close', () => clearInterval(looking));
}

/** What Node's sockets write to; their own time-outs look at it, too. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/**
 * How many bytes of a connection the system has taken, those of a long answer too of which it has taken but a part:
 * a socket itself counts that answer only once all of it has gone. None where the connection is being closed.
 */
function countGone(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Handle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}
