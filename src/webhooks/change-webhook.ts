import type { AuditAction, Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { dayMs } from '../clock.ts';
import { AppError, OperatorError } from '../errors.ts';
import type { EventType } from '../events/event.ts';
import { createEventIds, type EventIds } from '../events/event-ids.ts';
import { canReadType, canSee, coversReader, type EventReader, everything } from '../events/event-reader.ts';
import { endsOf, judgePosition, selectEnds, unknownEvent } from '../events/feed-page.ts';
import { defineTransaction, type Steps, step } from '../storage/database.ts';
import { selectSecret } from '../storage/secret-rows.ts';
import {
  type DisabledReason,
  makerOf,
  readerOf,
  type WebhookRow,
  type WebhookStatus,
  webhooksMax,
  writeAfter,
} from './webhook.ts';
import {
  type AnyWebhookName,
  countWebhooks,
  deleteOldSecrets,
  endSecret,
  insertRequest,
  insertSecret,
  insertWebhook,
  lockAccount,
  lockWebhook,
  lockWebhooksOfKey,
  type NewWebhookRow,
  selectEvent,
  selectRequests,
  updateWebhook,
} from './webhook-rows.ts';

/** Time for which an old secret still signs messages after a rotation. */
const overlapMs = dayMs;
/**
 * Maximum number of secrets of a webhook, including the current secret. This bounds the length of the signature header,
 * which has one signature for each secret.
 */
const secretsMax = 10n;

/**
 * Adds a webhook that starts at the end of the feed. Throws `limit_reached` if the account has `webhooksMax` webhooks.
 */
export const addWebhook = defineTransaction(
  'addWebhook',
  function* ({
    secret,
    ...row
  }: Omit<NewWebhookRow, 'position'> & { secret: Uint8Array }): Steps<WebhookRow> {
    yield* step(lockAccount, { accountId: row.accountId });
    const [total] = yield* step(countWebhooks, { accountId: row.accountId });
    if ((total?.count ?? 0n) >= webhooksMax)
      throw new AppError(
        'limit_reached',
        `this account has ${webhooksMax} webhooks, the most that an account may have`,
      );
    const { newest } = endsOf(yield* step(selectEnds, { position: 0n }));
    const [added] = yield* step(insertWebhook, { ...row, position: newest });
    if (added === undefined) throw new Error('the store gave no row for a new webhook');
    yield* step(insertSecret, { webhookId: added.id, secret });
    return added;
  },
  'row locks',
);

/** A change of a webhook. A null field stays unchanged. */
export interface WebhookChange {
  readonly url: string | null;
  readonly types: readonly EventType[] | null;
  readonly status: WebhookStatus | null;
  /** The new position, or the end of the feed. */
  readonly after: bigint | 'now' | null;
}

/** A webhook and the reader that changes it. */
interface Managed {
  readonly name: AnyWebhookName;
  readonly reader: EventReader;
}

/** Changes a webhook. Throws `not_found`, `scope_missing`, `invalid_body` and `position_lost`. */
export const changeWebhook = defineTransaction(
  'changeWebhook',
  function* ({ name, reader, change }: Managed & { readonly change: WebhookChange }): Steps<WebhookRow> {
    const [row] = yield* step(lockWebhook, name);
    requireManaged(row, reader);
    for (const type of change.types ?? []) requireType(type, reader, row);
    return yield* applyChange(row, change, 'owner');
  },
  'row locks',
);

/** Adds a new secret. The old secret still signs messages for `overlapMs`. Throws `not_found` and `scope_missing`. */
export const rotateSecret = defineTransaction(
  'rotateSecret',
  function* ({ name, reader, secret }: Managed & { readonly secret: Uint8Array }): Steps<WebhookRow> {
    const [row] = yield* step(lockWebhook, name);
    requireManaged(row, reader);
    yield* step(endSecret, { webhookId: row.id, overlapMs: BigInt(overlapMs) });
    yield* step(insertSecret, { webhookId: row.id, secret });
    yield* step(deleteOldSecrets, { webhookId: row.id, count: secretsMax });
    return row;
  },
  'row locks',
);

/** Maximum number of messages of a webhook that wait beside the feed. */
const requestsMax = 100n;

/** A message that a webhook shall get once, beside the feed. */
interface MessageRequest extends Managed {
  readonly messageId: string;
  /** The position of an event to send once more, or 0 for a ping. */
  readonly position: bigint;
}

/**
 * Requests a message and returns its id. If the same message waits already, returns the id of that message. Throws
 * `not_found`, `scope_missing` and `limit_reached`. Throws `invalid_body` for an event that the webhook may not receive,
 * and `events_expired` for one that is deleted.
 */
export const requestMessage = defineTransaction(
  'requestMessage',
  function* ({ name, reader, messageId, position }: MessageRequest): Steps<string> {
    const [row] = yield* step(lockWebhook, name);
    requireManaged(row, reader);
    if (position !== 0n) yield* requireReceivable(row, position);
    const [waiting] = yield* step(selectRequests, { id: row.id, position });
    if (typeof waiting?.message_id === 'string') return waiting.message_id;
    if ((waiting?.count ?? 0n) >= requestsMax) throw tooManyRequested();
    yield* step(insertRequest, { id: row.id, messageId, position });
    return messageId;
  },
  'row locks',
);

/** Like `requestMessage`, for an operator and a webhook of any account. Adds a row to the audit log. */
export const sendByHand = defineTransaction(
  'sendByHand',
  function* ({ by, ...request }: Omit<MessageRequest, 'reader'> & { readonly by: Authorship }): Steps<void> {
    const [row] = yield* step(lockWebhook, request.name);
    yield* requestMessage.body({ ...request, reader: everything });
    const subject = { subject: request.name.publicId, accountId: row?.account_id ?? null };
    yield* addAuditEntry(by, {
      ...subject,
      action: 'webhook.sent',
      before: null,
      after: { event: request.messageId },
    });
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

export type OperatorChange =
  | { readonly status: WebhookStatus }
  | { readonly after: NonNullable<WebhookChange['after']> };

interface ChangeByHand {
  readonly publicId: string;
  readonly change: OperatorChange;
  readonly by: Authorship;
}

/**
 * Changes a webhook of any account. Always adds a row to the audit log, because even an unchanged status or position
 * restarts the retries. Throws OperatorError if the webhook does not exist. Also throws `invalid_body` and
 * `position_lost`.
 */
export const changeWebhookByHand = defineTransaction(
  'changeWebhookByHand',
  function* ({ publicId, change, by }: ChangeByHand): Steps<void> {
    const [row] = yield* step(lockWebhook, { publicId, accountId: null });
    if (row === undefined)
      throw new OperatorError(`there is no webhook "${publicId}": "webhooks list" shows them all`);
    yield* changeByHand(row, change, by);
  },
  'row locks',
);

/** Disables the enabled webhooks that a key created: at most `webhooksMax`, because a key has one account. */
export const disableWebhooksOfKey = defineTransaction(
  'disableWebhooksOfKey',
  function* ({ keyId, by }: { readonly keyId: string; readonly by: Authorship }): Steps<void> {
    const rows = yield* step(lockWebhooksOfKey, { keyId });
    for (const row of rows) yield* changeByHand(row, { status: 'disabled' }, by);
  },
  'row locks',
);

const unchanged: WebhookChange = { url: null, types: null, status: null, after: null };

function* changeByHand(row: WebhookRow, change: OperatorChange, by: Authorship): Steps<void> {
  const changed = yield* applyChange(row, { ...unchanged, ...change }, 'operator');
  const ids = yield* readEventIds();
  const show = ({ status, position }: WebhookRow) =>
    'status' in change ? { status } : { after: writeAfter(position, ids) };
  const action: AuditAction = 'status' in change ? `webhook.${change.status}` : 'webhook.replayed';
  const subject = { action, subject: row.public_id, accountId: row.account_id };
  yield* addAuditEntry(by, { ...subject, before: show(row), after: show(changed) });
}

function* readEventIds(): Steps<EventIds> {
  const [secret] = yield* step(selectSecret, { name: 'cursor' });
  if (secret === undefined) throw new Error('the store has no secret for event ids');
  return createEventIds(secret.value);
}

/** Changes a locked webhook. A change that sets the URL, the status or the position restarts the retries. */
function* applyChange(row: WebhookRow, change: WebhookChange, because: DisabledReason): Steps<WebhookRow> {
  const position = yield* findPosition(row, change);
  const begins = change.url !== null || change.status !== null || change.after !== null;
  const [changed] = yield* step(updateWebhook, {
    id: row.id,
    url: change.url ?? row.url,
    types: change.types?.join(' ') ?? row.types,
    status: change.status ?? row.status,
    position,
    begins: begins ? 1n : 0n,
    because,
  });
  if (changed === undefined) throw webhookNotFound();
  return changed;
}

/**
 * Returns the new position of a webhook.
 *
 * Checks the position if the change sets it or enables the webhook. Throws `position_lost` if an event after the
 * position is deleted, or if only a server that this one took over from may have given the position. Throws
 * `invalid_body` if nobody has given it.
 */
function* findPosition(row: WebhookRow, { after, status }: WebhookChange): Steps<bigint> {
  if (after === null && status !== 'enabled') return row.position;
  const asked = after ?? row.position;
  const position = asked === 'now' ? 0n : asked;
  const ends = endsOf(yield* step(selectEnds, { position }));
  if (asked === 'now') return ends.newest;
  const judgement = judgePosition(position, ends);
  if (judgement === 'kept') return position;
  if (judgement === 'unknown') throw new AppError('invalid_body', unknownEvent().message);
  throw positionLost();
}

/** Returns the error for a webhook whose next events are deleted. */
export function positionLost(): AppError {
  return new AppError(
    'position_lost',
    'after: the events after the position of this webhook are no longer kept; set "after" to the id of a later event, or to "now"',
  );
}

/**
 * Throws `not_found` if the webhook does not exist, and `scope_missing` if the webhook receives events that the reader
 * may not read.
 */
export function requireManaged(row: WebhookRow | undefined, reader: EventReader): asserts row is WebhookRow {
  if (row === undefined) throw webhookNotFound();
  if (coversReader(reader, readerOf(row))) return;
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
