import { sql } from 'kysely';
import { dayMs } from '../clock.ts';
import { statement } from '../storage/database.ts';
import { isBeyondNewest } from '../storage/delete-old.ts';
import type { Dialect } from '../storage/dialect.ts';
import { insertRow } from '../storage/insert-row.ts';

/** Adds the secret of a webhook, sealed (secret-box.ts). */
export const insertSecret = insertRow('webhook_secrets', ['webhook_id', 'secret']);

/** Time for which an old secret still signs messages after a rotation. */
const overlapMs = dayMs;

/** Ends the current secret of a webhook, which signs messages for `overlapMs` longer. */
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
      sql<boolean>`(ends_at_ms <= ${nowMs}
        or ${isBeyondNewest('webhook_secrets', 'webhook_id', p.webhookId, secretsMax)})`,
    ),
);

/** True for a secret that still signs messages. */
export const isValid = ({ nowMs }: Dialect) => sql<boolean>`(ends_at_ms is null or ends_at_ms > ${nowMs})`;

/** Selects the secrets that sign the messages of a webhook, the current one first. */
export const selectValidSecrets = statement((query, p: { id: bigint }, dialect) =>
  query
    .selectFrom('webhook_secrets')
    .select('secret')
    .where('webhook_id', '=', p.id)
    .where(isValid(dialect))
    .orderBy('id', 'desc'),
);
