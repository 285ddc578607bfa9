import { createHmac, timingSafeEqual } from 'node:crypto';
import { type PetStatus, petStatuses } from '../../pets/pet.ts';

/** Makes and reads the opaque `cursor` of the list (contract section 3). */
export interface Cursors {
  /** The cursor of the page of a status (null: all) that begins at an id. */
  write(status: PetStatus | null, newestId: bigint): string;
  /** The id where the page begins, or null for a text that this service did not make for that status. */
  read(text: string, status: PetStatus | null): bigint | null;
}

const idBytes = 8;
const sealBytes = 10;
const cursorLength = Math.ceil(((1 + idBytes + sealBytes) * 4) / 3);

/**
 * A cursor is the status and the id, sealed with the store's secret so that nobody else can make one; all instances
 * over one store read each other's.
 */
export function createCursors(secret: Uint8Array): Cursors {
  function seal(content: Buffer): Buffer {
    return createHmac('sha256', secret).update(content).digest().subarray(0, sealBytes);
  }

  return {
    write(status, newestId) {
      const content = Buffer.alloc(1 + idBytes);
      content.writeUInt8(statusByte(status));
      content.writeBigInt64BE(newestId, 1);
      return Buffer.concat([content, seal(content)]).toString('base64url');
    },

    read(text, status) {
      if (text.length !== cursorLength) return null;
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.toString('base64url') !== text) return null;
      const content = bytes.subarray(0, 1 + idBytes);
      if (!timingSafeEqual(bytes.subarray(1 + idBytes), seal(content))) return null;
      return content.readUInt8() === statusByte(status) ? content.readBigInt64BE(1) : null;
    },
  };
}

function statusByte(status: PetStatus | null): number {
  return status === null ? petStatuses.length : petStatuses.indexOf(status);
}
