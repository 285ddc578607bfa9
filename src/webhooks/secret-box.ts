import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
/** The first byte of a stored secret: plain text or encrypted. */
const plain = 0;
const encrypted = 1;

export type SecretBox = ReturnType<typeof createSecretBox>;

/**
 * Encrypts the secrets of webhooks, so that a copy of the database is not enough to sign messages. Encrypts with the
 * first key and decrypts with any key. A key has 32 bytes. Without keys, secrets are stored in plain text.
 */
export function createSecretBox(keys: readonly Uint8Array[]) {
  const [present] = keys;

  return {
    /** Returns the stored form of a secret. If it is encrypted, it can be opened only with the same `webhookId`. */
    seal(secret: Uint8Array, webhookId: string): Uint8Array {
      if (present === undefined) return Buffer.concat([Buffer.of(plain), secret]);
      const iv = randomBytes(ivBytes);
      const sealing = createCipheriv(cipher, present, iv, { authTagLength: tagBytes });
      sealing.setAAD(Buffer.from(webhookId));
      const content = Buffer.concat([sealing.update(secret), sealing.final()]);
      return Buffer.concat([Buffer.of(encrypted), iv, sealing.getAuthTag(), content]);
    },

    /** Returns the secret. Returns null if no configured key decrypts it or if it belongs to another webhook. */
    open(sealed: Uint8Array, webhookId: string): Uint8Array | null {
      if (!isEncrypted(sealed)) return sealed.subarray(1);
      for (const key of keys) {
        const secret = openBy(key, sealed, webhookId);
        if (secret !== null) return secret;
      }
      return null;
    },

    /**
     * Returns true if the secret is stored as `seal` would store it: encrypted with the current key, or in plain text if
     * there is no key.
     */
    isCurrent: (sealed: Uint8Array, webhookId: string): boolean =>
      present === undefined
        ? !isEncrypted(sealed)
        : isEncrypted(sealed) && openBy(present, sealed, webhookId) !== null,
  };
}

/** Returns true if a stored secret is not in plain text. */
export function isEncrypted(sealed: Uint8Array): boolean {
  return sealed[0] !== plain;
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
