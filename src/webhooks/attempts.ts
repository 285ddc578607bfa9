import { setTimeout as sleep } from 'node:timers/promises';
import { secondMs } from '../clock.ts';
import { isUnavailable } from '../errors.ts';
import type { EventIds } from '../events/event-ids.ts';
import { writeEvent } from '../events/event-json.ts';
import { canSee } from '../events/event-reader.ts';
import { selectEvent } from '../events/feed-page.ts';
import type { Database } from '../storage/database.ts';
import { type EndedAttempt, isSuccess, noteAttempt } from './attempt-rows.ts';
import { disableLost, passEvents, type SendingRow, selectSending, toIds } from './delivery-rows.ts';
import type { AttemptResult, PostMessage } from './post-message.ts';
import { deleteRequest, selectRequests } from './requested-messages.ts';
import { planWaitMs, readRetryAfterMs } from './rules/retry.ts';
import type { SecretBox } from './secret-box.ts';
import { signMessage } from './sign-message.ts';
import { webhookReaderOf } from './webhook.ts';
import { selectValidSecrets } from './webhook-secret-rows.ts';

export interface DeliveryObserver {
  /** `result` is the HTTP status, or an `AttemptFailure` if there was no response. */
  onAttempt(result: string): void;
  /** An attempt has thrown an error, or the store failed before or after it. Each failure of the store is reported. */
  onFault(webhookId: string, error: unknown): void;
  onDisabled(webhookId: string, reason: string): void;
  /** No configured key decrypts the secrets of a webhook, so nothing is sent to it. */
  onSealed(webhookId: string): void;
}

export interface AttemptParts {
  readonly database: Database;
  readonly ids: EventIds;
  readonly box: SecretBox;
  readonly post: PostMessage;
  readonly observer: DeliveryObserver;
  /** Returns true if an attempt that begins now ends in time. Otherwise nothing is sent and no result is recorded. */
  readonly mayBegin: () => boolean;
  /** Returns false if a clock has leapt, so that the time since the first failure may be wrong. */
  readonly mayDisable: () => Promise<boolean>;
  /** Aborts every running attempt. An aborted attempt records no result. */
  readonly signal: AbortSignal;
}

interface Sending extends AttemptParts {
  readonly row: SendingRow;
  readonly secrets: readonly Uint8Array[];
}

interface Outgoing {
  readonly id: string;
  readonly writeBody: () => string;
  readonly sent: EndedAttempt['sent'];
}

/** What is left after one message. `more`: there may be more to send. `sealed`: no configured key decrypts the secrets. */
export type Progress = 'more' | 'done' | 'sealed';

/**
 * Reads a webhook, sends its next event or the oldest message that was requested, and records the result. Nothing is
 * left if the webhook is deleted, its account is suspended or no attempt may begin.
 */
export async function sendNext(
  parts: AttemptParts,
  what: 'event' | 'requested',
  id: bigint,
): Promise<Progress> {
  const { database, box, observer, mayBegin } = parts;
  if (!mayBegin()) return 'done';
  const reads = [database.read(selectSending, { id }), database.read(selectValidSecrets, { id })] as const;
  const [[row], sealed] = await Promise.all(reads);
  if (row === undefined || sealed.length === 0) return 'done';
  const secrets = sealed.flatMap(({ secret }) => box.open(secret, row.public_id)?.secret ?? []);
  if (secrets.length > 0)
    return await (what === 'event' ? sendEvent : sendRequested)({ ...parts, row, secrets });
  observer.onSealed(row.public_id);
  return 'sealed';
}

async function sendEvent(sending: Sending): Promise<Progress> {
  const { database, ids, observer, row } = sending;
  if (row.is_due !== 1n) return 'done';
  if (row.is_lost === 1n) {
    const disabled = await database.run(disableLost, { id: row.id, position: row.position });
    if (disabled.length > 0)
      observer.onDisabled(row.public_id, 'the events after its position are no longer kept');
    return 'done';
  }
  if (row.next_id === null) return 'done';
  // Before the attempt, the webhook moves to the position right before the event. If its types change during the
  // attempt, the new types then apply to all later events. If they have changed already, the webhook is read again.
  const before = row.next_id - 1n;
  const [moved = row] = before > row.position ? await database.run(passEvents, { ids: toIds([row]) }) : [];
  const [event] = await database.read(selectEvent, { position: row.next_id });
  if (event === undefined || moved.position !== before) return 'more';
  const writeBody = () => writeEvent(event, webhookReaderOf(row), ids);
  const message = { id: ids.write(event.id), writeBody, sent: { position: event.id } };
  return (await attempt(sending, message)) ? 'more' : 'done';
}

async function sendRequested(sending: Sending): Promise<Progress> {
  const { database, ids, row } = sending;
  const reader = webhookReaderOf(row);
  const [request] = await database.read(selectRequests, { id: row.id });
  if (request === undefined) return 'done';
  const { id: requestId, message_id: id, position } = request;
  const [event] = position === 0n ? [] : await database.read(selectEvent, { position });
  // Since the request, the event may have been deleted, or the types of the webhook may have changed.
  if (position !== 0n && (event === undefined || !canSee(reader, event))) {
    await database.run(deleteRequest, { requestId });
    return 'done';
  }
  const writeBody = () =>
    event === undefined ? writePing(id, Number(row.now_ms)) : writeEvent(event, reader, ids);
  await attempt(sending, { id, writeBody, sent: { requestId } });
  return 'done';
}

const recordAgainMs = secondMs / 2;

const reasons = { gone: 'it answered 410', failing: 'no attempt has succeeded for 5 days' } as const;

/** Sends a message and records the result, unless `signal` aborts first. Returns true if the delivery succeeded. */
async function attempt(sending: Sending, message: Outgoing): Promise<boolean> {
  const { observer, mayBegin, signal, row } = sending;
  // The reads before an attempt may have taken long, so this check comes right before the request.
  if (!mayBegin()) return false;
  const startedAtMs = performance.now();
  const ended = await tryPost(sending, message);
  if ('failure' in ended && signal.aborted) return false;
  const result = 'status' in ended ? String(ended.status) : ended.failure;
  observer.onAttempt(result);
  const answerStart = 'status' in ended ? ended.answerStart : null;
  const retryAfterMs = 'status' in ended ? readRetryAfterMs(ended.retryAfter, Number(row.now_ms)) : null;
  const reason = await record(sending, {
    publicId: row.public_id,
    messageId: message.id,
    result,
    durationMs: BigInt(Math.round(performance.now() - startedAtMs)),
    answerStart: answerStart === null ? null : Buffer.from(answerStart),
    revision: row.revision,
    url: row.url,
    sent: message.sent,
    waitMs: BigInt(planWaitMs(Number(row.failures) + 1, Math.random(), retryAfterMs)),
  });
  if (reason !== null) observer.onDisabled(row.public_id, reasons[reason]);
  return isSuccess(result);
}

/** Records an attempt, again after a fault of the store: without the result, the receiver would get the message again. */
async function record(sending: Sending, ended: Omit<EndedAttempt, 'mayDisable'>) {
  const { database, observer, row, signal } = sending;
  for (;;) {
    try {
      const mayDisable = isSuccess(ended.result) || (await sending.mayDisable());
      return await database.transact(noteAttempt, { ...ended, mayDisable });
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted) throw error;
      observer.onFault(row.public_id, error);
    }
    await sleep(recordAgainMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Signs and posts a message. Whatever this throws is a failed attempt. */
async function tryPost(sending: Sending, { id, writeBody }: Outgoing): Promise<AttemptResult> {
  const { post, signal, observer, row, secrets } = sending;
  try {
    const body = writeBody();
    const headers = {
      ...signMessage({ id, body }, secrets, Number(row.now_ms)),
      'content-type': 'application/json',
      'user-agent': 'animal-store-webhooks',
    };
    return await post(row.url, headers, body, signal);
  } catch (error) {
    observer.onFault(row.public_id, error);
    return { failure: 'refused' };
  }
}

function writePing(id: string, atMs: number): string {
  return JSON.stringify({ id, type: 'webhook.ping', timestamp: new Date(atMs).toISOString(), data: {} });
}
