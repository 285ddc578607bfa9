import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
/** The first byte of a stored secret: plain text or encrypted. */
const plain = 0;
const encrypted = 1;

/** True if a stored secret can be read only with a key. */
export const isEncrypted = (stored: Uint8Array): boolean => stored[0] !== plain;

export type SecretBox = ReturnType<typeof createSecretBox>;

/**
 * Encrypts the secrets of webhooks, so that a copy of the database is not enough to sign messages. Encrypts with the
 * first key and decrypts with any key. A key has 32 bytes. Without keys, secrets are stored in plain text.
 */
export function createSecretBox(keys: readonly Uint8Array[]) {
  const [present] = keys;

  return {
    /** If the stored form is encrypted, it can be opened only with the same `webhookId`. */
    seal(secret: Uint8Array, webhookId: string): Uint8Array {
      if (present === undefined) return Buffer.concat([Buffer.of(plain), secret]);
      const iv = randomBytes(ivBytes);
      const sealing = createCipheriv(cipher, present, iv, { authTagLength: tagBytes });
      sealing.setAAD(Buffer.from(webhookId));
      const content = Buffer.concat([sealing.update(secret), sealing.final()]);
      return Buffer.concat([Buffer.of(encrypted), iv, sealing.getAuthTag(), content]);
    },

    /** Returns the secret, and whether `seal` would store it so. Null if no key decrypts it for this webhook. */
    open(sealed: Uint8Array, webhookId: string): { secret: Uint8Array; isCurrent: boolean } | null {
      if (sealed[0] === plain) return { secret: sealed.subarray(1), isCurrent: present === undefined };
      for (const key of keys) {
        const secret = openBy(key, sealed, webhookId);
        if (secret !== null) return { secret, isCurrent: key === present };
      }
      return null;
    },
  };
}

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
