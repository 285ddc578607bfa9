import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Database, statement } from '../storage/database.ts';
import { insertRow } from '../storage/insert-row.ts';
import { isEncrypted, type SecretBox } from './secret-box.ts';

/** Adds a secret, which becomes the current secret of the webhook. */
export const insertSecret = insertRow('webhook_secrets', ['webhook_id', 'secret']);

/** Makes the current secret expire after `overlapMs`. The secret signs messages until it expires. */
export const endSecret = statement<{ webhookId: bigint; overlapMs: bigint }>()((query, p, { nowMs }) =>
  query
    .updateTable('webhook_secrets')
    .set({ ends_at_ms: sql<bigint>`${nowMs} + cast(${p.overlapMs} as bigint)` })
    .where('webhook_id', '=', p.webhookId)
    .where('ends_at_ms', 'is', null),
);

/** Deletes the expired secrets of a webhook. Of the other secrets, keeps the `count` newest. */
export const deleteOldSecrets = statement<{ webhookId: bigint; count: bigint }>()((query, p, { nowMs }) =>
  query
    .deleteFrom('webhook_secrets')
    .where('webhook_id', '=', p.webhookId)
    .where(
      sql<boolean>`(ends_at_ms <= ${nowMs} or id not in (select kept.id from webhook_secrets as kept
        where kept.webhook_id = ${p.webhookId} order by kept.id desc limit ${p.count}))`,
    ),
);

/** Selects the secrets that sign the messages of a webhook, the current secret first. */
export const selectValidSecrets = statement<{ id: bigint }>()((query, p, { nowMs }) =>
  query
    .selectFrom('webhook_secrets')
    .select('secret')
    .where('webhook_id', '=', p.id)
    .where(sql<boolean>`(ends_at_ms is null or ends_at_ms > ${nowMs})`)
    .orderBy('id', 'desc'),
);

/** Selects the `count` valid secrets of all webhooks with ids above `afterId`. */
const selectSecrets = statement<{ afterId: bigint; count: bigint }>()((query, p, { nowMs }) =>
  query
    .selectFrom('webhook_secrets')
    .innerJoin('webhooks', 'webhooks.id', 'webhook_secrets.webhook_id')
    .select(['webhook_secrets.id', 'public_id', 'status', 'secret'])
    .where('webhook_secrets.id', '>', p.afterId)
    .where(sql<boolean>`(ends_at_ms is null or ends_at_ms > ${nowMs})`)
    .orderBy('webhook_secrets.id')
    .limit(p.count),
);

const updateSecret = statement<{ id: bigint; secret: Uint8Array }>()((query, p) =>
  query.updateTable('webhook_secrets').set({ secret: p.secret }).where('id', '=', p.id),
);

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
      if (opened !== null && isEncrypted(secret)) decrypted += 1;
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
 * key. Otherwise returns null. One webhook with a broken secret does not stop a start.
 */
export function findLostKey({ decrypted, unreadable }: SecretReview): string | null {
  const [first, ...others] = unreadable;
  if (first === undefined || decrypted > 0) return null;
  const whose = others.length === 0 ? first : `${first} and ${others.length} more`;
  return `WEBHOOK_SECRET_KEY does not decrypt the secrets of ${whose}: set the key that encrypted them, or run "animal-store webhooks disable ${first}"`;
}
