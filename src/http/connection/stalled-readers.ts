import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const checkMsMax = 1_000;

/** A connection with unsent bytes, as it was at the last check. */
interface Stalled {
  readonly sentBytes: number;
  /** How many checks in a row found that no more bytes were sent. */
  readonly idleChecks: number;
}

/**
 * Cuts clients that do not read their answers. A connection is cut if it has unsent bytes and none of them are sent for
 * `untakenMs`, even if the client sends more. One timer checks all connections every second. A timer for each
 * connection (`server.timeout`) costs time in every request, and every received byte restarts it.
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

/** The internal object that Node's sockets write to. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/**
 * Whether Node's sockets still have their internal handle. Without it, a long answer that is read slowly counts as
 * stalled.
 */
export function showsHandle(socket: Socket): boolean {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Partial<Handle> | null };
  return typeof handle?.bytesWritten === 'number' && typeof handle.writeQueueSize === 'number';
}

/**
 * How many bytes of a connection the system has taken, including parts of a long answer. Without the handle,
 * `bytesWritten` is used, which counts an answer only when all of it is sent.
 */
function countSentBytes(socket: Socket): number {
  if (!showsHandle(socket)) return socket.bytesWritten - socket.writableLength;
  const { bytesWritten, writeQueueSize } = (socket as Socket & { readonly _handle: Handle })._handle;
  return bytesWritten - writeQueueSize;
}
