import type { AuditAction, Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { OperatorError } from '../errors.ts';
import { createEventIds } from '../events/event-ids.ts';
import { defineWork, step, type Work } from '../storage/database.ts';
import { selectSecret } from '../storage/secret-rows.ts';
import { lockAnyWebhook, lockWebhooksOfKey } from './operator-rows.ts';
import { type WebhookRow, writeAfter } from './webhook.ts';
import { applyChange, type WebhookChange } from './webhook-works.ts';

export type OperatorChange =
  | { readonly status: 'enabled' | 'disabled' }
  | { readonly after: NonNullable<WebhookChange['after']> };

interface ChangeByHand {
  readonly publicId: string;
  readonly change: OperatorChange;
  readonly by: Authorship;
}

/**
 * Changes a webhook of any account. Always adds a row to the audit log, because even an unchanged status or position
 * restarts the retries. Throws OperatorError if the webhook does not exist. Also throws `invalid_body` and
 * `position_lost` (`applyChange`).
 */
export const changeWebhookByHand = defineWork(
  import.meta.url,
  'changeWebhookByHand',
  function* ({ publicId, change, by }: ChangeByHand): Work<void> {
    const [row] = yield* step(lockAnyWebhook, { publicId });
    if (row === undefined)
      throw new OperatorError(`there is no webhook "${publicId}": "webhooks list" shows them all`);
    yield* changeByHand(row, change, by);
  },
  'row locks',
);

/**
 * Disables the enabled webhooks that a key created. One transaction is short enough, because an account has at most
 * `webhooksMax` webhooks.
 */
export const disableWebhooksOfKey = defineWork(
  import.meta.url,
  'disableWebhooksOfKey',
  function* ({ keyId, by }: { readonly keyId: string; readonly by: Authorship }): Work<void> {
    const rows = yield* step(lockWebhooksOfKey, { keyId });
    for (const row of rows) yield* changeByHand(row, { status: 'disabled' }, by);
  },
  'row locks',
);

const unchanged: WebhookChange = { url: null, types: null, status: null, after: null };

function* changeByHand(row: WebhookRow, change: OperatorChange, by: Authorship): Work<void> {
  const changed = yield* applyChange(row, { ...unchanged, ...change });
  const ids = yield* readEventIds();
  const show = ({ status, position }: WebhookRow) =>
    'status' in change ? { status } : { after: writeAfter(position, ids) };
  yield* addAuditEntry(by, {
    action: nameAction(change),
    subject: row.public_id,
    accountId: row.account_id,
    before: show(row),
    after: show(changed),
  });
}

function nameAction(change: OperatorChange): AuditAction {
  return 'status' in change ? `webhook.${change.status}` : 'webhook.replayed';
}

function* readEventIds(): Work<ReturnType<typeof createEventIds>> {
  const [secret] = yield* step(selectSecret, { name: 'cursor' });
  if (secret === undefined) throw new Error('the store has no secret for event ids');
  return createEventIds(secret.value);
}
