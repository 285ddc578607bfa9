import { createHmac, timingSafeEqual } from 'node:crypto';

/** Makes and reads the opaque `cursor` of every list (contract section 3). */
export interface Cursors {
  /** The cursor of the page of a list that begins at a position. `list` is its path with all its filters, in one order. */
  write(list: string, position: bigint): string;
  /** The position where the page begins, or null for a text that this service did not make for that list. */
  read(text: string, list: string): bigint | null;
}

const positionBytes = 8;
const sealBytes = 10;
const cursorLength = Math.ceil(((1 + positionBytes + sealBytes) * 4) / 3);

/** The first byte of the cursors of the lists that the first release had; these cursors stay as they were. */
const firstBytes: ReadonlyMap<string, number> = new Map([
  ['/pets?status=available', 0],
  ['/pets?status=pending', 1],
  ['/pets?status=sold', 2],
  ['/pets', 3],
]);
/** The first byte of all others: the seal alone tells which list it is. */
const otherLists = 4;

/**
 * A cursor is the position, sealed together with the list by the store's secret, so that nobody else can make one; all
 * instances over one store read each other's.
 */
export function createCursors(secret: Uint8Array): Cursors {
  function seal(content: Buffer, list: string): Buffer {
    const hmac = createHmac('sha256', secret).update(content);
    if (!firstBytes.has(list)) hmac.update(list);
    return hmac.digest().subarray(0, sealBytes);
  }

  return {
    write(list, position) {
      const content = Buffer.alloc(1 + positionBytes);
      content.writeUInt8(firstBytes.get(list) ?? otherLists);
      content.writeBigInt64BE(position, 1);
      return Buffer.concat([content, seal(content, list)]).toString('base64url');
    },

    read(text, list) {
      if (text.length !== cursorLength) return null;
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.toString('base64url') !== text) return null;
      const content = bytes.subarray(0, 1 + positionBytes);
      if (!timingSafeEqual(bytes.subarray(1 + positionBytes), seal(content, list))) return null;
      return content.readUInt8() === (firstBytes.get(list) ?? otherLists) ? content.readBigInt64BE(1) : null;
    },
  };
}
