import type { Socket } from 'node:net';
import type { BodyMemory, HeldBody } from './body-memory.ts';

const nothing = Buffer.alloc(0);
/** The least memory for several chunks, so that single bytes are not copied again and again. */
const bytesMin = 1_024;

/**
 * Copies the chunks of a body together, up to `bytesMax`, because a chunk of one byte takes 400 bytes of memory. Calls
 * `refuse` if all bodies take too much memory and these bytes were released.
 */
export function createHeldBytes(socket: Socket, memory: BodyMemory, bytesMax: number, refuse: () => void) {
  const held: HeldBody = { socket, accountId: null, bytes: 0, refuse };
  let bytes: Buffer = nothing;
  let count = 0;

  function append(chunk: Buffer): void {
    const needed = count + chunk.length;
    if (needed > bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(bytesMax, Math.max(needed, 2 * bytes.length, bytesMin)));
      bytes.copy(larger, 0, 0, count);
      bytes = larger;
    }
    chunk.copy(bytes, count);
  }

  return {
    count: () => count,
    add(chunk: Buffer): void {
      if (count === 0) bytes = chunk;
      else append(chunk);
      count += chunk.length;
      // All that is really allocated: small buffers may share their memory.
      memory.resize(held, bytes.buffer.byteLength);
    },
    /** Counts the memory for an account from now on. */
    assign: (accountId: bigint | null) => memory.assign(held, accountId),
    /** Returns the bytes, and counts and keeps them no more. */
    release(): Buffer {
      memory.release(held);
      const whole = bytes.subarray(0, count);
      bytes = nothing;
      return whole;
    },
  };
}
