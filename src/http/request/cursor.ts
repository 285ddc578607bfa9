import { createHmac, timingSafeEqual } from 'node:crypto';

/** Writes and reads the opaque `cursor` of every list (contract section 3). */
export interface Cursors {
  /**
   * Returns the cursor of the page that begins at `position`. `list` identifies the list: its path with all filters in
   * a fixed order.
   */
  write(list: string, position: bigint): string;
  /**
   * Returns the position in a cursor. Returns null if the cursor was not written for `list` with the secret of this
   * store.
   */
  read(text: string, list: string): bigint | null;
  /** Like `write`, for lists whose positions are strings of 1 to 40 ASCII characters. */
  writeText(list: string, position: string): string;
  /** Like `read`, for cursors from `writeText`. */
  readText(text: string, list: string): string | null;
}

const positionBytes = 8;
const sealBytes = 10;

/** The first byte of cursors for the lists of the first release. The format of these cursors must never change. */
const firstBytes: ReadonlyMap<string, number> = new Map([
  ['/pets?status=available', 0],
  ['/pets?status=pending', 1],
  ['/pets?status=sold', 2],
  ['/pets', 3],
]);
/** The first byte of cursors for other lists. It does not identify the list, so the seal also covers the list. */
const otherLists = 4;
/** The first byte of cursors whose positions are strings. */
const textLists = 5;

/**
 * A cursor is a kind, a position and a seal. The seal is an HMAC of the kind, the position and the list, made with the
 * secret of the store. So clients cannot forge a cursor, and a cursor works on all instances that share the store.
 */
export function createCursors(secret: Uint8Array): Cursors {
  function seal(content: Buffer, list: string): Buffer {
    const hmac = createHmac('sha256', secret).update(content);
    if (!firstBytes.has(list)) hmac.update(list);
    return hmac.digest().subarray(0, sealBytes);
  }

  function write(kind: number, position: Buffer, list: string): string {
    const content = Buffer.concat([Buffer.of(kind), position]);
    return Buffer.concat([content, seal(content, list)]).toString('base64url');
  }

  function read(text: string, kind: number, list: string): Buffer | null {
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= 1 + sealBytes || bytes.toString('base64url') !== text) return null;
    const content = bytes.subarray(0, -sealBytes);
    if (!timingSafeEqual(bytes.subarray(-sealBytes), seal(content, list))) return null;
    return content[0] === kind ? content.subarray(1) : null;
  }

  const kindOf = (list: string) => firstBytes.get(list) ?? otherLists;

  return {
    write(list, position) {
      const bytes = Buffer.alloc(positionBytes);
      bytes.writeBigInt64BE(position);
      return write(kindOf(list), bytes, list);
    },
    read: (text, list) => read(text, kindOf(list), list)?.readBigInt64BE() ?? null,
    writeText: (list, position) => write(textLists, Buffer.from(position, 'latin1'), list),
    readText: (text, list) => read(text, textLists, list)?.toString('latin1') ?? null,
  };
}
