import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../storage/database.ts';
import { selectSecrets, updateSecret } from './webhook-rows.ts';

/** Encrypts the secrets of webhooks, so that a copy of the database is not enough to sign messages. */
export interface SecretBox {
  /** Returns the stored form of a secret. If it is encrypted, it can be opened only with the same `webhookId`. */
  seal(secret: Uint8Array, webhookId: string): Uint8Array;
  /** Returns the secret. Returns null if no configured key decrypts it or if it belongs to another webhook. */
  open(sealed: Uint8Array, webhookId: string): Uint8Array | null;
  /**
   * Returns true if the secret is stored as `seal` would store it: encrypted with the current key, or in plain text if
   * there is no key.
   */
  isCurrent(sealed: Uint8Array, webhookId: string): boolean;
}

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
/** The first byte of a stored secret: plain text or encrypted. */
const plain = 0;
const encrypted = 1;

/**
 * Encrypts with the first key and decrypts with any key. A key has 32 bytes. Without keys, secrets are stored in plain
 * text.
 */
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

/** What the configured keys can do with the secrets that sign messages. */
export interface SecretReview {
  /** Number of encrypted secrets that a key decrypts. */
  readonly decrypted: number;
  /** The ids of the enabled webhooks of which no secret can be decrypted. They get no events. */
  readonly unreadable: readonly string[];
}

/** Number of secrets in one read. Each is decrypted on the event loop. */
const reviewedRows = 500;

/**
 * Tries all valid secrets of webhooks. Encrypts those with the current key that are stored otherwise, also in plain
 * text. A secret that no key decrypts stays unchanged. Throws the errors of the database.
 */
export async function reviewSecrets(database: Database, box: SecretBox): Promise<SecretReview> {
  /** Whether a secret of each enabled webhook can be decrypted. */
  const readable = new Map<string, boolean>();
  let decrypted = 0;
  for (let afterId = 0n; ; await nextTurn()) {
    const rows = await database.read(selectSecrets, { afterId, count: BigInt(reviewedRows) });
    for (const { id, public_id, status, secret } of rows) {
      const opened = box.open(secret, public_id);
      if (opened !== null && secret[0] === encrypted) decrypted += 1;
      if (status === 'enabled') readable.set(public_id, opened !== null || readable.get(public_id) === true);
      if (opened !== null && !box.isCurrent(secret, public_id))
        await database.run(updateSecret, { id, secret: box.seal(opened, public_id) });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < reviewedRows) break;
    afterId = last.id;
  }
  const unreadable = [...readable].filter(([, isReadable]) => !isReadable).map(([id]) => id);
  return { decrypted, unreadable };
}

/**
 * Returns the problem if secrets are encrypted and no key decrypts one of them, because WEBHOOK_SECRET_KEY lacks the
 * key. Otherwise returns null. One webhook with a broken secret is no reason to stop a start.
 */
export function findLostKey({ decrypted, unreadable }: SecretReview): string | null {
  const [first, ...others] = unreadable;
  if (first === undefined || decrypted > 0) return null;
  const whose = others.length === 0 ? first : `${first} and ${others.length} more`;
  return `WEBHOOK_SECRET_KEY does not decrypt the secrets of ${whose}: set the key that encrypted them, or run "animal-store webhooks disable ${first}"`;
}
