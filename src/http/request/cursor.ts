import { createHmac, timingSafeEqual } from 'node:crypto';

/** Writes and reads the opaque `cursor` of every list (contract section 3). */
export interface Cursors {
  /**
   * The cursor of the page that begins at a position. `list` is the path of the list with all its filters in a fixed
   * order.
   */
  write(list: string, position: bigint): string;
  /** The position of a cursor. Null if this service did not make it for that list. */
  read(text: string, list: string): bigint | null;
  /** The same for a list whose positions are texts of 1 to 40 ASCII characters. */
  writeText(list: string, position: string): string;
  /** The position of such a cursor. Null if this service did not make it for that list. */
  readText(text: string, list: string): string | null;
}

const positionBytes = 8;
const sealBytes = 10;
const cursorLength = Math.ceil(((1 + positionBytes + sealBytes) * 4) / 3);

/** The first byte of cursors of the lists in the first release. These cursors never change. */
const firstBytes: ReadonlyMap<string, number> = new Map([
  ['/pets?status=available', 0],
  ['/pets?status=pending', 1],
  ['/pets?status=sold', 2],
  ['/pets', 3],
]);
/** The first byte of cursors of other lists. Only the seal identifies their list. */
const otherLists = 4;
/** The first byte of cursors whose positions are texts. */
const textLists = 5;

/**
 * A cursor is a position with a seal: an HMAC of position and list with the secret of the store. Only the store can
 * make one, and all instances that share a store accept it.
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

    writeText(list, position) {
      const content = Buffer.concat([Buffer.of(textLists), Buffer.from(position, 'latin1')]);
      return Buffer.concat([content, seal(content, list)]).toString('base64url');
    },

    readText(text, list) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length <= 1 + sealBytes || bytes.toString('base64url') !== text) return null;
      const content = bytes.subarray(0, -sealBytes);
      if (!timingSafeEqual(bytes.subarray(-sealBytes), seal(content, list))) return null;
      return content.readUInt8() === textLists ? content.toString('latin1', 1) : null;
    },
  };
}
