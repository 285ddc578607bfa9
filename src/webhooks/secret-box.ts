import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts the secrets of webhooks, so that a copy of the database is not enough to sign messages. */
export interface SecretBox {
  /** The stored form of a secret, bound to its webhook. */
  seal(secret: Uint8Array, webhookId: string): Uint8Array;
  /** The secret; null if its key is unknown, or if it belongs to another webhook. */
  open(sealed: Uint8Array, webhookId: string): Uint8Array | null;
  /** Whether a stored secret has the form that `seal` writes now. */
  isCurrent(sealed: Uint8Array, webhookId: string): boolean;
}

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
/** The first byte of a stored secret says whether it is encrypted. */
const plain = 0;
const encrypted = 1;

/** Encrypts with the first key, of 32 bytes, and decrypts with any. Without keys, secrets are stored as they are. */
export function createSecretBox(keys: readonly Uint8Array[]): SecretBox {
  const [present] = keys;

  function openBy(key: Uint8Array, sealed: Uint8Array, webhookId: string): Uint8Array | null {
    const iv = sealed.subarray(1, 1 + ivBytes);
    const tag = sealed.subarray(1 + ivBytes, 1 + ivBytes + tagBytes);
    try {
      const decipher = createDecipheriv(cipher, key, iv, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(webhookId)).setAuthTag(tag);
      const start = decipher.update(sealed.subarray(1 + ivBytes + tagBytes));
      return Buffer.concat([start, decipher.final()]);
    } catch {
      return null;
    }
  }

  return {
    seal(secret, webhookId) {
      if (present === undefined) return Buffer.concat([Buffer.of(plain), secret]);
      const iv = randomBytes(ivBytes);
      const sealing = createCipheriv(cipher, present, iv, { authTagLength: tagBytes });
      sealing.setAAD(Buffer.from(webhookId));
      const content = Buffer.concat([sealing.update(secret), sealing.final()]);
      return Buffer.concat([Buffer.of(encrypted), iv, sealing.getAuthTag(), content]);
    },

    open(sealed, webhookId) {
      if (sealed[0] === plain) return sealed.subarray(1);
      for (const key of keys) {
        const secret = openBy(key, sealed, webhookId);
        if (secret !== null) return secret;
      }
      return null;
    },

    isCurrent: (sealed, webhookId) =>
      present === undefined
        ? sealed[0] === plain
        : sealed[0] === encrypted && openBy(present, sealed, webhookId) !== null,
  };
}
