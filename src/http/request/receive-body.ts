import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';
import { bodyBytesMax } from './body.ts';
import type { BodyMemory } from './body-memory.ts';
import { createHeldBytes } from './held-bytes.ts';

const tooLarge = new AppError('payload_too_large', `the body is larger than ${bodyBytesMax} bytes`);
const incomplete = new AppError('invalid_body', 'the body is incomplete');
const noRoom = new AppError('unavailable', 'the bodies of requests take too much memory; try again');

/** The body of a request. It is received while the request waits for its turn and its key is verified. */
export interface Body {
  /**
   * Resolves to the whole body, which is then no longer counted. `isLate` is true if it was not complete at the call.
   * Throws AppError if the body is too large, incomplete, or refused because all bodies take too much memory.
   */
  take(accountId: bigint | null): Promise<{ readonly bytes: Buffer; readonly isLate: boolean }>;
  /** Drops what has arrived and what arrives. Closes the connection after `bytesMax` more, if it is given. */
  drop(bytesMax?: number): void;
  /** Call this when the request is answered. The connection bounds what it still reads and drops. */
  end(): void;
}

/** Receives the body of a request. It takes memory for the bytes that have arrived, at most twice as much. */
export function receiveBody(request: IncomingMessage, memory: BodyMemory): Body {
  const length = Number(request.headers['content-length'] ?? 0);
  const held = createHeldBytes(request.socket, memory, length || bodyBytesMax, () => fail(noRoom));
  const settled = Promise.withResolvers<void>();
  let state: 'arriving' | 'complete' | 'dropped' = 'arriving';
  let failure: AppError | null = null;
  let droppedMax = Number.POSITIVE_INFINITY;

  function receive(chunk: Buffer): void {
    if (state !== 'arriving') {
      droppedMax -= chunk.length;
      // To pause it instead would keep chunks, up to 64 KiB.
      if (droppedMax < 0) request.socket.destroy();
    } else if (held.count() + chunk.length > bodyBytesMax) fail(tooLarge);
    else held.add(chunk);
  }

  function complete(): void {
    if (state === 'arriving') state = 'complete';
    settled.resolve();
  }

  function fail(reason: AppError): void {
    failure = reason;
    drop();
    settled.resolve();
  }

  function drop(bytesMax = droppedMax): void {
    state = 'dropped';
    droppedMax = bytesMax;
    held.release();
  }

  async function take(accountId: bigint | null) {
    const isLate = state === 'arriving';
    if (isLate) held.assign(accountId);
    await settled.promise;
    if (failure !== null) throw failure;
    return { bytes: held.release(), isLate };
  }

  function end(): void {
    drop();
    request.off('data', receive);
    request.resume();
  }

  if (length > bodyBytesMax) fail(tooLarge);
  listen(request, receive, complete);
  request.once('close', () => state === 'arriving' && fail(incomplete));
  return { take, drop, end };
}

/** Calls `receive` for each chunk and `complete` after the last one. To read a body directly takes a tenth of the time. */
function listen(request: IncomingMessage, receive: (chunk: Buffer) => void, complete: () => void): void {
  // If the body came in the packet of the head, it has arrived then.
  queueMicrotask(() => {
    const first = request.read(request.readableLength) as Buffer | null;
    if (first !== null) receive(first);
    if (first?.length !== Number(request.headers['content-length'])) {
      request.on('data', receive).once('end', complete);
      return;
    }
    complete();
    // Node releases a request only after its stream has ended.
    request.resume();
  });
}
