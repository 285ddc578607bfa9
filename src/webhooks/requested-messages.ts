import { addAuditEntry } from '../audit/audit-log.ts';
import { AppError } from '../errors.ts';
import { canSee } from '../events/event-reader.ts';
import { endsOf, expiredEvent, selectEnds, selectEvent } from '../events/feed-page.ts';
import { type Steps, statement, step, transaction } from '../storage/database.ts';
import { insertRow } from '../storage/insert-row.ts';
import { lockManaged, type Managed } from './change-webhook.ts';
import { webhookReaderOf } from './webhook.ts';
import type { WebhookRow } from './webhook-rows.ts';

/** Maximum number of messages of a webhook that wait beside the feed. */
const requestsMax = 100;

/** Selects the requested messages of a webhook, the oldest first. There are at most `requestsMax`. */
export const selectRequests = statement((query, p: { id: bigint }) =>
  query
    .selectFrom('webhook_requests')
    .select(['id', 'message_id', 'position'])
    .where('webhook_id', '=', p.id)
    .orderBy('id'),
);

const insertRequest = insertRow('webhook_requests', ['webhook_id', 'message_id', 'position']);

export const deleteRequest = statement((query, p: { requestId: bigint }) =>
  query.deleteFrom('webhook_requests').where('id', '=', p.requestId),
);

/** A message that a webhook shall get once, beside the feed. */
interface MessageRequest extends Managed {
  readonly messageId: string;
  /** The position of an event to send once more, or 0 for a ping. */
  readonly position: bigint;
}

/** Requests a message and returns its id, or the id of the same message if it waits already. */
export const requestMessage = transaction(
  'requestMessage',
  'row locks',
  function* (request: MessageRequest): Steps<string> {
    const { publicId, manager, messageId, position } = request;
    const row = yield* lockManaged(publicId, manager);
    if (position !== 0n) yield* requireReceivable(row, position);
    const waiting = yield* step(selectRequests, { id: row.id });
    const same = waiting.find((message) => message.position === position);
    if (same === undefined && waiting.length >= requestsMax) throw tooManyRequested();
    if (same === undefined)
      yield* step(insertRequest, { webhook_id: row.id, message_id: messageId, position });
    const details = { accountId: row.account_id, after: { event: messageId } };
    if ('actor' in manager) yield* addAuditEntry(manager, 'webhook.sent', publicId, details);
    return same?.message_id ?? messageId;
  },
);

function* requireReceivable(row: WebhookRow, position: bigint): Steps<void> {
  const { deleted_to } = endsOf(yield* step(selectEnds, { position }));
  if (position > 0n && position <= deleted_to) throw expiredEvent();
  const [event] = yield* step(selectEvent, { position });
  if (
    event === undefined ||
    !canSee(webhookReaderOf(row), event) ||
    !row.types.split(' ').includes(event.type)
  )
    throw new AppError('not_found', 'eventId: this webhook receives no event with this id');
}

export const tooManyRequested = () =>
  new AppError(
    'limit_reached',
    `${requestsMax} messages of this webhook wait to be sent, the most that may wait`,
  );
