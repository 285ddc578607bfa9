import type { AuditAction, AuditEntry, Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { dayMs } from '../clock.ts';
import { AppError, OperatorError } from '../errors.ts';
import type { EventType } from '../events/event.ts';
import { createEventIds } from '../events/event-ids.ts';
import { canReadType, canSee, coversReader, type EventReader } from '../events/event-reader.ts';
import { endsOf, judgePosition, selectEnds, selectEvent, unknownEvent } from '../events/feed-page.ts';
import { defineTransaction, type Steps, step } from '../storage/database.ts';
import { selectSecret } from '../storage/secret-rows.ts';
import { makerOf, readerOf, type WebhookStatus, webhooksMax, writeAfter } from './webhook.ts';
import {
  countWebhooks,
  deleteWebhook,
  insertRequest,
  insertWebhook,
  lockAccount,
  lockEnabledOfKey,
  lockWebhook,
  type NewWebhookRow,
  selectRequests,
  updateWebhook,
  type WebhookRow,
} from './webhook-rows.ts';
import { deleteOldSecrets, endSecret, insertSecret } from './webhook-secrets.ts';

/** Time for which an old secret still signs messages after a rotation. */
const overlapMs = dayMs;
/**
 * Maximum number of secrets of a webhook, including the current secret. This bounds the length of the signature header,
 * which has one signature for each secret.
 */
const secretsMax = 10n;
/** Maximum number of messages of a webhook that wait beside the feed. */
const requestsMax = 100n;

/**
 * Adds a webhook that starts at the end of the feed. Throws `limit_reached` if the account has `webhooksMax` webhooks.
 */
export const addWebhook = defineTransaction(
  'addWebhook',
  function* ({
    secret,
    ...row
  }: Omit<NewWebhookRow, 'position'> & { readonly secret: Uint8Array }): Steps<WebhookRow> {
    yield* step(lockAccount, { id: row.account_id });
    const [total] = yield* step(countWebhooks, { accountId: row.account_id });
    if ((total?.count ?? 0n) >= webhooksMax)
      throw new AppError(
        'limit_reached',
        `this account has ${webhooksMax} webhooks, the most that an account may have`,
      );
    const { newest } = endsOf(yield* step(selectEnds, { position: 0n }));
    const [added] = yield* step(insertWebhook, { ...row, position: newest });
    if (added === undefined) throw new Error('the store gave no row for a new webhook');
    yield* step(insertSecret, { webhook_id: added.id, secret });
    return added;
  },
  'row locks',
);

/** A change of a webhook. An absent field stays unchanged. */
export interface WebhookChange {
  readonly url?: string | undefined;
  readonly types?: readonly EventType[] | undefined;
  readonly status?: WebhookStatus | undefined;
  /** The new position, or the end of the feed. */
  readonly after?: bigint | 'now' | undefined;
}

/**
 * Who manages a webhook: a key of its account with the rights of the key, or an operator. The audit log records only
 * what operators do.
 */
type Manager = EventReader | Authorship;

interface Managed {
  readonly publicId: string;
  readonly manager: Manager;
}

/** Changes a webhook. Throws the errors of `lockManaged`, `requireType` and `findPosition`. */
export const changeWebhook = defineTransaction(
  'changeWebhook',
  function* ({ publicId, manager, change }: Managed & { readonly change: WebhookChange }): Steps<WebhookRow> {
    const row = yield* lockManaged(publicId, manager);
    if (!('actor' in manager)) for (const type of change.types ?? []) requireType(type, manager, row);
    return yield* changeLocked(row, change, manager);
  },
  'row locks',
);

/** Disables the enabled webhooks that a key created: at most `webhooksMax`, because a key has one account. */
export const disableWebhooksOfKey = defineTransaction(
  'disableWebhooksOfKey',
  function* ({ keyId, by }: { readonly keyId: string; readonly by: Authorship }): Steps<void> {
    for (const row of yield* step(lockEnabledOfKey, { keyId }))
      yield* changeLocked(row, { status: 'disabled' }, by);
  },
  'row locks',
);

/**
 * A change that sets the URL, the status or the position restarts the retries, even if the value is the same. So each
 * change of an operator gets an entry in the audit log.
 */
function* changeLocked(row: WebhookRow, change: WebhookChange, manager: Manager): Steps<WebhookRow> {
  const { url, types, status, after } = change;
  const isDisabled = (status ?? row.status) === 'disabled';
  const restarts = url !== undefined || status !== undefined || after !== undefined;
  const changed = {
    ...row,
    url: url ?? row.url,
    types: types?.join(' ') ?? row.types,
    status: status ?? row.status,
    disabled_because: isDisabled
      ? (row.disabled_because ?? ('actor' in manager ? 'operator' : 'owner'))
      : null,
    position: yield* findPosition(row, change, manager),
    ...(restarts && {
      revision: row.revision + 1n,
      failures: 0n,
      failing_since_ms: null,
      next_attempt_at_ms: 0n,
    }),
  };
  yield* step(updateWebhook, changed);
  if (!('actor' in manager)) return changed;
  if (status === undefined) yield* auditReplay(manager, row, changed.position);
  else yield* audit(manager, row, `webhook.${status}`, { status: row.status }, { status });
  return changed;
}

/** Adds a new secret. The old secret still signs messages for `overlapMs`. Throws the errors of `lockManaged`. */
export const rotateSecret = defineTransaction(
  'rotateSecret',
  function* ({ publicId, manager, secret }: Managed & { readonly secret: Uint8Array }): Steps<WebhookRow> {
    const row = yield* lockManaged(publicId, manager);
    yield* step(endSecret, { webhookId: row.id, overlapMs: BigInt(overlapMs) });
    yield* step(insertSecret, { webhook_id: row.id, secret });
    yield* step(deleteOldSecrets, { webhookId: row.id, count: secretsMax });
    return row;
  },
  'row locks',
);

/** Deletes a webhook. Throws the errors of `lockManaged`. */
export const removeWebhook = defineTransaction(
  'removeWebhook',
  function* ({ publicId, manager }: Managed): Steps<void> {
    const { id } = yield* lockManaged(publicId, manager);
    yield* step(deleteWebhook, { id });
  },
  'row locks',
);

/** A message that a webhook shall get once, beside the feed. */
interface MessageRequest extends Managed {
  readonly messageId: string;
  /** The position of an event to send once more, or 0 for a ping. */
  readonly position: bigint;
}

/**
 * Requests a message and returns its id. If the same message waits already, returns the id of that message. Throws
 * `limit_reached` and the errors of `lockManaged`. Throws `invalid_body` for an event that the webhook may not receive,
 * and `events_expired` for one that is deleted.
 */
export const requestMessage = defineTransaction(
  'requestMessage',
  function* ({ publicId, manager, messageId, position }: MessageRequest): Steps<string> {
    const row = yield* lockManaged(publicId, manager);
    if (position !== 0n) yield* requireReceivable(row, position);
    const [waiting] = yield* step(selectRequests, { id: row.id, position });
    const waitingId = waiting?.message_id ?? null;
    if (waitingId === null) {
      if ((waiting?.count ?? 0n) >= requestsMax) throw tooManyRequested();
      yield* step(insertRequest, { webhook_id: row.id, message_id: messageId, position });
    }
    if ('actor' in manager) yield* audit(manager, row, 'webhook.sent', null, { event: messageId });
    return waitingId ?? messageId;
  },
  'row locks',
);

function* requireReceivable(row: WebhookRow, position: bigint): Steps<void> {
  const { deleted_to, newest } = endsOf(yield* step(selectEnds, { position }));
  if (position <= 0n || position > newest)
    throw new AppError('invalid_body', 'eventId must be the id of an event that this service returned');
  if (position <= deleted_to) throw expiredEvent();
  const [event] = yield* step(selectEvent, { position });
  if (event === undefined || !canSee(readerOf(row), event) || !row.types.split(' ').includes(event.type))
    throw new AppError('invalid_body', 'eventId: this webhook does not receive this event');
}

/** Returns the error for an event that is deleted. */
export function expiredEvent(): AppError {
  return new AppError('events_expired', 'eventId: this event is no longer kept');
}

export function tooManyRequested(): AppError {
  return new AppError(
    'limit_reached',
    `${requestsMax} messages of this webhook wait to be sent, the most that may wait`,
  );
}

function* auditReplay(by: Authorship, row: WebhookRow, position: bigint): Steps<void> {
  const [secret] = yield* step(selectSecret, { name: 'cursor' });
  if (secret === undefined) throw new Error('the store has no secret for event ids');
  const ids = createEventIds(secret.value);
  const [before, after] = [row.position, position].map((at) => ({ after: writeAfter(at, ids) }));
  yield* audit(by, row, 'webhook.replayed', before ?? null, after ?? null);
}

function audit(
  by: Authorship,
  { public_id: subject, account_id: accountId }: WebhookRow,
  action: AuditAction,
  before: AuditEntry['before'],
  after: AuditEntry['after'],
): Steps<void> {
  return addAuditEntry(by, { action, subject, accountId, before, after });
}

/**
 * Returns the new position of a webhook.
 *
 * Checks the position if the change sets it or enables the webhook. If an event after the position is deleted, or if only
 * a server that this one took over from may have given the position, throws `position_lost`, or OperatorError to an
 * operator who enables the webhook. Throws `invalid_body` if nobody has given it.
 */
function* findPosition(row: WebhookRow, change: WebhookChange, manager: Manager): Steps<bigint> {
  const { after, status } = change;
  if (after === undefined && status !== 'enabled') return row.position;
  const asked = after ?? row.position;
  const position = asked === 'now' ? 0n : asked;
  const ends = endsOf(yield* step(selectEnds, { position }));
  if (asked === 'now') return ends.newest;
  const judgement = judgePosition(position, ends);
  if (judgement === 'kept') return position;
  if (judgement === 'unknown') throw unknownEvent('invalid_body');
  if (!('actor' in manager) || after !== undefined) throw positionLost();
  throw new OperatorError(
    `the events after the position of ${row.public_id} are no longer kept: first replay the webhook from a later event in the console, or let its owner set "after"`,
  );
}

/** Returns the error for a webhook whose next events are deleted. */
export function positionLost(): AppError {
  return new AppError(
    'position_lost',
    'after: the events after the position of this webhook are no longer kept; set "after" to the id of a later event, or to "now"',
  );
}

/**
 * Locks a webhook. For an operator, throws OperatorError if it does not exist. For a key, throws `not_found` if the
 * account has no such webhook, and `scope_missing` if the webhook receives events that the key may not read.
 */
function* lockManaged(publicId: string, manager: Manager): Steps<WebhookRow> {
  const [row] = yield* step(lockWebhook, { publicId });
  if ('actor' in manager) {
    if (row !== undefined) return row;
    throw new OperatorError(`there is no webhook "${publicId}": "webhooks list" shows them all`);
  }
  if (row?.account_id !== manager.accountId) throw webhookNotFound();
  if (coversReader(manager, readerOf(row))) return row;
  throw new AppError('scope_missing', 'the webhook receives events that this API key may not read');
}

/** Throws `scope_missing` if the reader, or the key that created the webhook, may not read events of the type. */
function requireType(type: EventType, reader: EventReader, row: WebhookRow): void {
  requireReadable(type, reader);
  if (!canReadType(makerOf(row), type))
    throw new AppError(
      'scope_missing',
      `types: the key that created this webhook was not allowed to read ${type}`,
    );
  if (!coversReader(reader, readerOf(row, [type])))
    throw new AppError(
      'scope_missing',
      `types: the webhook receives ${type} events of all accounts, but this API key may read only those of its own account`,
    );
}

/** Throws `scope_missing` if the reader may not read events of the type. */
export function requireReadable(type: EventType, reader: EventReader): void {
  if (!canReadType(reader, type))
    throw new AppError('scope_missing', `types: this API key may not read ${type}`);
}

export function webhookNotFound(): AppError {
  return new AppError('not_found', 'webhookId: there is no webhook with this identifier');
}
