import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { Webhook as Signer } from 'standardwebhooks';
import { dayMs, secondMs } from '../clock.ts';
import { type Database, statement } from '../storage/database.ts';
import type { Dialect } from '../storage/dialect.ts';
import { insertRow } from '../storage/insert-row.ts';

export function generateSecret(): Uint8Array {
  return randomBytes(32);
}

export function writeSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`;
}

/** Returns the headers of a message (Standard Webhooks 1.0.0), with one signature for each secret. */
export function signMessage(
  { id, body }: { readonly id: string; readonly body: string },
  secrets: readonly Uint8Array[],
  atMs: number,
): Record<string, string> {
  const at = new Date(atMs);
  const signatures = secrets.map((secret) => new Signer(secret, { format: 'raw' }).sign(id, at, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atMs / secondMs)),
    'webhook-signature': signatures.join(' '),
  };
}

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

export const insertSecret = insertRow('webhook_secrets', ['webhook_id', 'secret']);

/** Time for which an old secret still signs messages after a rotation. */
const overlapMs = dayMs;

export const endSecret = statement((query, p: { webhookId: bigint }, { nowMs }) =>
  query
    .updateTable('webhook_secrets')
    .set({ ends_at_ms: sql<bigint>`${nowMs} + ${sql.lit(overlapMs)}` })
    .where('webhook_id', '=', p.webhookId)
    .where('ends_at_ms', 'is', null),
);

/** Maximum number of secrets of a webhook, which bounds the header of its signatures and the review of all secrets. */
const secretsMax = 10;

/** Deletes the expired secrets of a webhook, and the oldest ones beyond `secretsMax`. */
export const deleteOldSecrets = statement((query, p: { webhookId: bigint }, { nowMs }) =>
  query
    .deleteFrom('webhook_secrets')
    .where('webhook_id', '=', p.webhookId)
    .where(
      sql<boolean>`(ends_at_ms <= ${nowMs} or id not in (select kept.id from webhook_secrets as kept
        where kept.webhook_id = ${p.webhookId} order by kept.id desc limit ${sql.lit(secretsMax)}))`,
    ),
);

const isValid = ({ nowMs }: Dialect) => sql<boolean>`(ends_at_ms is null or ends_at_ms > ${nowMs})`;

/** Selects the secrets that sign the messages of a webhook, the current one first. */
export const selectValidSecrets = statement((query, p: { id: bigint }, dialect) =>
  query
    .selectFrom('webhook_secrets')
    .select('secret')
    .where('webhook_id', '=', p.id)
    .where(isValid(dialect))
    .orderBy('id', 'desc'),
);

/** Number of secrets in one read. Each is decrypted on the event loop. */
const reviewedRows = 500;

const selectSecrets = statement((query, p: { afterId: bigint }, dialect) =>
  query
    .selectFrom('webhook_secrets')
    .innerJoin('webhooks', 'webhooks.id', 'webhook_secrets.webhook_id')
    .select(['webhook_secrets.id', 'public_id', 'status', 'secret'])
    .where('webhook_secrets.id', '>', p.afterId)
    .where(isValid(dialect))
    .orderBy('webhook_secrets.id')
    .limit(sql.lit(reviewedRows)),
);

const updateSecret = statement((query, p: { id: bigint; secret: Uint8Array }) =>
  query.updateTable('webhook_secrets').set({ secret: p.secret }).where('id', '=', p.id),
);

/**
 * Tries all valid secrets of webhooks, and encrypts with the current key those that are stored otherwise. Returns the
 * number of enabled webhooks without a readable secret. `lostKey` is the problem if no key decrypts any secret.
 */
export async function reviewSecrets(database: Database, box: SecretBox) {
  /** Whether a secret can be decrypted, for each enabled webhook. */
  const readable = new Map<string, boolean>();
  let hasKey = false;
  for (let afterId = 0n; ; await nextTurn()) {
    const rows = await database.read(selectSecrets, { afterId });
    for (const { id, public_id, status, secret } of rows) {
      const opened = box.open(secret, public_id);
      if (opened !== null && secret[0] !== plain) hasKey = true;
      if (status === 'enabled') readable.set(public_id, opened !== null || readable.get(public_id) === true);
      if (opened?.isCurrent === false)
        await database.run(updateSecret, { id, secret: box.seal(opened.secret, public_id) });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < reviewedRows) break;
    afterId = last.id;
  }
  const unreadable = [...readable].filter(([, isReadable]) => !isReadable).map(([id]) => id);
  return { unreadable: unreadable.length, lostKey: hasKey ? null : describeLostKey(unreadable) };
}

function describeLostKey([first, ...others]: readonly string[]): string | null {
  if (first === undefined) return null;
  const whose = others.length === 0 ? first : `${first} and ${others.length} more`;
  return `WEBHOOK_SECRET_KEY does not decrypt the secrets of ${whose}: set the key that encrypted them, or run "animal-store webhooks disable ${first}"`;
}
