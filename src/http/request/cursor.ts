import { createHmac, timingSafeEqual } from 'node:crypto';

export type Cursors = ReturnType<typeof createCursors>;

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
const textLists = 5;

/**
 * Writes and reads the opaque `cursor` of every list: a kind, a position and a seal. The seal is an HMAC of these and the
 * list, made with the secret of the store, so that a cursor cannot be forged and works on every instance.
 */
export function createCursors(secret: Uint8Array) {
  function seal(content: Buffer, list: string): Buffer {
    const hmac = createHmac('sha256', secret).update(content);
    if (!firstBytes.has(list)) hmac.update(list);
    return hmac.digest().subarray(0, sealBytes);
  }

  return {
    /**
     * Returns the cursor of the page that begins at `position`: an int64, or 1 to 40 ASCII characters in a list that the first
     * release did not have. `list` is its path with all filters in a fixed order.
     */
    write(list: string, position: bigint | string): string {
      const content = encode(list, position);
      return Buffer.concat([content, seal(content, list)]).toString('base64url');
    },
    /** Returns the position in a cursor. Null if it was not written for `list` with the secret of this store. */
    read(text: string, list: string): bigint | string | null {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length <= 1 + sealBytes || bytes.toString('base64url') !== text) return null;
      const content = bytes.subarray(0, -sealBytes);
      if (!timingSafeEqual(bytes.subarray(-sealBytes), seal(content, list))) return null;
      const [kind, position] = [content[0], content.subarray(1)];
      const first = firstBytes.get(list);
      // A list of the first release is not part of its seal. A text that ends with the name of another list would have the same
      // seal, so these lists take no text.
      if (kind === textLists) return first === undefined ? position.toString('latin1') : null;
      return kind === (first ?? otherLists) ? position.readBigInt64BE() : null;
    },
  };
}

function encode(list: string, position: bigint | string): Buffer {
  if (typeof position === 'string') return Buffer.from(String.fromCharCode(textLists) + position, 'latin1');
  const bytes = Buffer.alloc(1 + positionBytes, firstBytes.get(list) ?? otherLists);
  bytes.writeBigInt64BE(position, 1);
  return bytes;
}
