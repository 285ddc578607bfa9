import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const lookMsMax = 1_000;

/** A connection with unsent bytes, as it was at the last look. */
interface Stalled {
  readonly sentBytes: number;
  /** At how many looks in a row no more had been sent. */
  readonly looks: number;
}

/**
 * Cuts clients that do not read their answers: a connection with unsent bytes has `untakenMs` for some of them to go, and
 * again as long as some do, whatever comes in. All connections are looked at once a second: a timer on each
 * (`server.timeout`) costs every request, and begins again with every byte that comes in.
 */
export function cutStalledReaders(server: Server, untakenMs: number): void {
  const lookMs = Math.min(lookMsMax, untakenMs / 4);
  const open = new Set<Socket>();
  let stalled = new Map<Socket, Stalled>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  function look(): void {
    const before = stalled;
    stalled = new Map();
    for (const socket of open) {
      if (socket.writableLength === 0) continue;
      const sentBytes = countSentBytes(socket);
      const last = before.get(socket);
      const looks = last?.sentBytes === sentBytes ? last.looks + 1 : 0;
      if (looks * lookMs >= untakenMs) socket.destroy();
      else stalled.set(socket, { sentBytes, looks });
    }
  }

  const looking = setInterval(look, lookMs);
  looking.unref();
  server.once('close', () => clearInterval(looking));
}

/** What Node's sockets write to. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** Whether Node's sockets still show what they write to. Without it a long answer that is read slowly counts as stalled. */
export function showsHandle(socket: Socket): boolean {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Partial<Handle> | null };
  return typeof handle?.bytesWritten === 'number' && typeof handle.writeQueueSize === 'number';
}

/**
 * How many bytes of a connection the system has taken, parts of a long answer included; a socket itself counts an answer
 * only once all of it has gone (`bytesWritten`, which is used if there is no handle).
 */
function countSentBytes(socket: Socket): number {
  if (!showsHandle(socket)) return socket.bytesWritten - socket.writableLength;
  const { bytesWritten, writeQueueSize } = (socket as Socket & { readonly _handle: Handle })._handle;
  return bytesWritten - writeQueueSize;
}
