import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const checkMsMax = 1_000;

/** The state of a connection with unsent bytes at the last check. */
interface Stalled {
  readonly sentBytes: number;
  /** Number of consecutive checks that found no progress. */
  readonly idleChecks: number;
}

/**
 * Closes connections whose clients do not read their responses. A connection is closed if it has unsent bytes and none
 * of them is sent for `untakenMs`. Bytes from the client do not extend this time.
 *
 * One timer checks all connections at least once per second. Node's `server.timeout` is no substitute: its timers cost
 * time in every request, and every received byte restarts them.
 */
export function cutStalledReaders(server: Server, untakenMs: number): void {
  const checkMs = Math.min(checkMsMax, untakenMs / 4);
  const open = new Set<Socket>();
  let stalled = new Map<Socket, Stalled>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  function check(): void {
    const before = stalled;
    stalled = new Map();
    for (const socket of open) {
      if (socket.writableLength === 0) continue;
      const sentBytes = countSentBytes(socket);
      const last = before.get(socket);
      const idleChecks = last?.sentBytes === sentBytes ? last.idleChecks + 1 : 0;
      if (idleChecks * checkMs >= untakenMs) socket.destroy();
      else stalled.set(socket, { sentBytes, idleChecks });
    }
  }

  const checking = setInterval(check, checkMs);
  checking.unref();
  server.once('close', () => clearInterval(checking));
}

/** The internal object to which Node's sockets write. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/**
 * True if the socket has Node's internal handle. Without the handle, a client that reads a long response slowly counts
 * as stalled.
 */
export function showsHandle(socket: Socket): boolean {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Partial<Handle> | null };
  return typeof handle?.bytesWritten === 'number' && typeof handle.writeQueueSize === 'number';
}

/**
 * Returns the number of bytes that the operating system has accepted for a connection. With the handle, parts of a
 * response count. Without the handle, a response counts only when all of it is sent.
 */
function countSentBytes(socket: Socket): number {
  if (!showsHandle(socket)) return socket.bytesWritten - socket.writableLength;
  const { bytesWritten, writeQueueSize } = (socket as Socket & { readonly _handle: Handle })._handle;
  return bytesWritten - writeQueueSize;
}
