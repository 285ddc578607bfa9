import { type ActingKey, lockActingKey } from '../accounts/acting-key.ts';
import { type Authored, type Authorship, addAuditEntry } from '../audit/audit-log.ts';
import { AppError, notFound, OperatorError } from '../errors.ts';
import type { EventType } from '../events/event.ts';
import { createEventIds, type EventIds } from '../events/event-ids.ts';
import { canReadType, coversReader, type EventReader } from '../events/event-reader.ts';
import { endsOf, judgePosition, selectEnds, unknownEvent } from '../events/feed-page.ts';
import { type Steps, step, transaction } from '../storage/database.ts';
import { selectSecret } from '../storage/store-facts.ts';
import {
  type DisabledReason,
  makerOf,
  readReason,
  type WebhookStatus,
  webhookReaderOf,
  webhooksMax,
  writeAfter,
} from './webhook.ts';
import {
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  lockWebhook,
  type NewWebhookRow,
  selectWebhooksOfKey,
  updateWebhook,
  type WebhookRow,
} from './webhook-rows.ts';
import { deleteOldSecrets, endSecret, insertSecret } from './webhook-secret-rows.ts';

type NewSecret = { readonly secret: Uint8Array };
type NewSecretOf = Managed & NewSecret;
type NewWebhook = Omit<NewWebhookRow, 'position'> & NewSecret & { readonly nowMs: number };

/** Adds a webhook that starts at the end of the feed. Throws `limit_reached` beyond `webhooksMax`. */
export const addWebhook = transaction(
  'addWebhook',
  'row locks',
  function* ({ secret, nowMs, ...row }: NewWebhook) {
    yield* lockActingKey({ accountId: row.account_id, keyId: row.key_id, nowMs });
    const [total] = yield* step(countWebhooks, { accountId: row.account_id });
    const problem = `this account has ${webhooksMax} webhooks, the most that an account may have`;
    if ((total?.count ?? 0n) >= webhooksMax) throw new AppError('limit_reached', problem);
    const { newest } = endsOf(yield* step(selectEnds, { position: 0n }));
    const [added] = yield* step(insertWebhook, { ...row, position: newest });
    if (added === undefined) throw new Error('the store gave no row for a new webhook');
    yield* step(insertSecret, { webhook_id: added.id, secret });
    return added;
  },
);

export interface WebhookChange {
  readonly url?: string | undefined;
  readonly types?: readonly EventType[] | undefined;
  readonly status?: WebhookStatus | undefined;
  /** The new position, or the end of the feed. */
  readonly after?: bigint | 'now' | undefined;
}

/** A key with its rights to read events. */
export type WebhookManager = EventReader & ActingKey;

/** Who manages a webhook: a key of its account, or an operator, whose changes stand in the audit log. */
export interface Managed {
  readonly publicId: string;
  readonly manager: WebhookManager | Authorship;
}

type Changing = Managed & { readonly change: WebhookChange };

export const changeWebhook = transaction(
  'changeWebhook',
  'row locks',
  function* ({ publicId, manager, change }: Changing) {
    const row = yield* lockManaged(publicId, manager);
    if ('actor' in manager) return yield* changeAudited(row, change, manager);
    if (change.types !== undefined) requireTypes(change.types, manager, row);
    return yield* applyChange(row, change, 'owner');
  },
);

type KeyOfWebhooks = Authored & { readonly keyId: string };

/** Disables the webhooks of a key that are enabled or on hold: at most `webhooksMax`, because a key has one account. */
export const disableWebhooksOfKey = transaction(
  'disableWebhooksOfKey',
  'row locks',
  function* ({ keyId, by }: KeyOfWebhooks) {
    for (const { id: publicId } of yield* step(selectWebhooksOfKey, { keyId })) {
      const [row] = yield* step(lockWebhook, { publicId });
      if (row === undefined) continue;
      if (row.status === 'enabled' || readReason(row) === 'restored')
        yield* changeAudited(row, { status: 'disabled' }, by);
    }
  },
);

/** Each change of an operator restarts the retries, so it has an audit entry even if the values stay the same. */
function* changeAudited(row: WebhookRow, change: WebhookChange, by: Authorship): Steps<WebhookRow> {
  const changed = yield* applyChange(row, change, 'operator');
  const ids = change.after === undefined ? null : yield* readEventIds();
  const describe = ({ status, position }: WebhookRow) => ({
    ...(change.status !== undefined && { status }),
    ...(ids !== null && { after: writeAfter(position, ids) }),
  });
  const action = change.status === undefined ? 'webhook.replayed' : (`webhook.${change.status}` as const);
  const details = { accountId: row.account_id, before: describe(row), after: describe(changed) };
  yield* addAuditEntry(by, action, row.public_id, details);
  return changed;
}

function* readEventIds(): Steps<EventIds> {
  const [secret] = yield* step(selectSecret, { name: 'cursor' });
  if (secret === undefined) throw new Error('the store has no secret for event ids');
  return createEventIds(secret.value);
}

type Changer = 'owner' | 'operator';

function* applyChange(row: WebhookRow, change: WebhookChange, by: Changer): Steps<WebhookRow> {
  const { url, types, status, after } = change;
  const restarts = url !== undefined || status !== undefined || after !== undefined;
  const changed = {
    ...row,
    url: url ?? row.url,
    types: types?.join(' ') ?? row.types,
    status: status ?? row.status,
    disabled_because: findReason(row, change, by),
    position: yield* findPosition(row, change, by),
    ...(restarts && {
      revision: row.revision + 1n,
      failures: 0n,
      failing_since_ms: null,
      next_attempt_at_ms: 0n,
    }),
  };
  yield* step(updateWebhook, changed);
  return changed;
}

/** Disabling a webhook that is on hold ends the hold, so that nobody resumes it with those on hold. */
function findReason(row: WebhookRow, { status }: WebhookChange, by: Changer): DisabledReason | null {
  if ((status ?? row.status) === 'enabled') return null;
  const reason = readReason(row);
  return reason === null || (reason === 'restored' && status === 'disabled') ? by : reason;
}

/**
 * Returns the new position of a webhook. If the change sets it or enables the webhook, throws `invalid_body` if nobody has
 * given it, and `position_lost`, or OperatorError to an operator who enables, if not all events after it are kept.
 */
function* findPosition(row: WebhookRow, { after, status }: WebhookChange, by: Changer): Steps<bigint> {
  if (after === undefined && status !== 'enabled') return row.position;
  const asked = after ?? row.position;
  const position = asked === 'now' ? 0n : asked;
  const ends = endsOf(yield* step(selectEnds, { position }));
  if (asked === 'now') return ends.newest;
  const judgement = judgePosition(position, ends);
  if (judgement === 'kept') return position;
  if (judgement === 'unknown') throw unknownEvent('invalid_body');
  if (by === 'owner' || after !== undefined) throw positionLost();
  throw new OperatorError(
    `the events after the position of ${row.public_id} are no longer kept: first replay the webhook from a later event in the console, or let its owner set "after"`,
  );
}

/** Adds a new secret. The old secret still signs messages for 24 h. */
export const rotateSecret = transaction(
  'rotateSecret',
  'row locks',
  function* ({ publicId, manager, secret }: NewSecretOf) {
    const row = yield* lockManaged(publicId, manager);
    yield* step(endSecret, { webhookId: row.id });
    yield* step(insertSecret, { webhook_id: row.id, secret });
    yield* step(deleteOldSecrets, { webhookId: row.id });
    return row;
  },
);

export const removeWebhook = transaction(
  'removeWebhook',
  'row locks',
  function* ({ publicId, manager }: Managed) {
    const { id } = yield* lockManaged(publicId, manager);
    yield* step(deleteWebhook, { id });
  },
);

/**
 * Locks a webhook. Throws OperatorError to an operator if it does not exist. To a key, throws what authentication would say
 * now, `not_found` for another account, and `scope_missing` if it receives events that the key may not read.
 */
export function* lockManaged(publicId: string, manager: Managed['manager']): Steps<WebhookRow> {
  if ('keyId' in manager) yield* lockActingKey(manager);
  const [row] = yield* step(lockWebhook, { publicId });
  if ('actor' in manager) {
    if (row !== undefined) return row;
    throw new OperatorError(`there is no webhook "${publicId}": "webhooks list" shows them all`);
  }
  if (row?.account_id !== manager.accountId) throw notFound('webhookId', 'webhook');
  requireCover(manager, row);
  return row;
}

/** Throws `scope_missing` if a webhook receives events that the reader may not read. */
export function requireCover(reader: EventReader, row: WebhookRow): void {
  if (!coversReader(reader, webhookReaderOf(row)))
    throw scopeMissing('the webhook receives events that this API key may not read');
}

/** Throws `scope_missing` if the reader, or the key that created the webhook, may not read all these events. */
function requireTypes(types: readonly EventType[], reader: EventReader, row: WebhookRow): void {
  const foreign = types.find((type) => !canReadType(makerOf(row), type));
  if (foreign !== undefined)
    throw scopeMissing(`types: the key that created this webhook was not allowed to read ${foreign}`);
  const hidden = types.find((type) => !coversReader(reader, webhookReaderOf(row, [type])));
  if (hidden !== undefined)
    throw scopeMissing(`types: this API key may not read all ${hidden} events of the webhook`);
}

export const scopeMissing = (problem: string) => new AppError('scope_missing', problem);

export const positionLost = () =>
  new AppError(
    'position_lost',
    'after: the events after the position of this webhook are no longer kept; set "after" to the id of a later event, or to "now"',
  );
