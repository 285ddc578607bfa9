import type { EventIds } from '../events/event-ids.ts';
import { canSee } from '../events/event-reader.ts';
import type { EventRow } from '../events/feed-page.ts';
import { writeEvent } from '../events/write-events.ts';
import { int64Max } from '../int64.ts';
import type { Database } from '../storage/database.ts';
import { type Attempted, dropRequest, noteFailure, noteRequested, noteSuccess } from './attempt-rows.ts';
import { type DeliveryRow, selectRequest, selectSending, toEvent } from './delivery-rows.ts';
import type { AttemptResult, PostMessage } from './post-message.ts';
import { failingAttemptsMin, failingMsMax, planWaitMs, readRetryAfterMs } from './rules/retry.ts';
import type { SecretBox } from './secret-box.ts';
import { type Message, signMessage } from './sign-message.ts';
import { readerOf } from './webhook.ts';

/** Callbacks for metrics and the log. */
export interface DeliveryObserver {
  /** Called after each attempt. `result` is the HTTP status, or an `AttemptFailure` if there was no response. */
  onAttempt(result: string): void;
  /** Called if an attempt throws an error. The attempt counts as failed, like one without a response. */
  onFault(webhookId: string, error: unknown): void;
  /** Called after the service has disabled a webhook. */
  onDisabled(webhookId: string, reason: string): void;
  /** Called if no configured key decrypts the secrets of a webhook. The service then sends nothing to this webhook. */
  onSealed(webhookId: string): void;
}

/** A webhook, its next event, and the secrets that sign its messages. */
export interface Sending {
  readonly row: DeliveryRow;
  readonly event: EventRow | null;
  /** Empty if no configured key decrypts them. Then nothing can be sent. */
  readonly secrets: readonly Uint8Array[];
}

/** Sends messages to webhooks and records the results. */
export interface Attempts {
  /** Reads the current state of a webhook. Returns null if the webhook is deleted or its account is suspended. */
  read(id: bigint): Promise<Sending | null>;
  /**
   * Sends the event right after the position of a webhook and records the result. Returns true if the delivery
   * succeeded.
   */
  sendEvent(sending: Sending, event: EventRow): Promise<boolean>;
  /** Sends the oldest message that the owner has requested, if there is one, and records the result. */
  sendRequested(sending: Sending): Promise<void>;
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

type Ended = AttemptResult & Pick<Attempted, 'messageId' | 'durationMs'>;

const gone = 410;

export function createAttempts(parts: AttemptParts): Attempts {
  const { database, ids, box, observer, mayBegin, signal } = parts;

  /** Returns null if the attempt may not begin, or if `signal` aborts before there is a response. */
  async function attempt(
    { row, secrets }: Sending,
    messageId: string,
    writeBody: () => string,
  ): Promise<Ended | null> {
    // The reads before an attempt may have taken long, so this check comes right before the request.
    if (!mayBegin()) return null;
    const startedAtMs = performance.now();
    const result = await tryPost(parts, row, secrets, messageId, writeBody);
    if ('failure' in result && signal.aborted) return null;
    observer.onAttempt(toText(result));
    return { ...result, messageId, durationMs: BigInt(Math.round(performance.now() - startedAtMs)) };
  }

  return {
    async read(id) {
      const rows = await database.read(selectSending, { id });
      const [row] = rows;
      if (row === undefined) return null;
      const secrets = rows.map(({ secret }) => box.open(secret, row.public_id)).filter((one) => one !== null);
      if (secrets.length === 0) observer.onSealed(row.public_id);
      return { row, event: toEvent(row), secrets };
    },

    async sendEvent(sending, event) {
      const { row } = sending;
      const ended = await attempt(sending, ids.write(event.id), () => writeEvent(event, readerOf(row), ids));
      if (ended === null) return false;
      if (isSuccess(ended))
        await database.transact(noteSuccess, { ...toAttempted(row, ended), sent: event.id });
      else await recordFailure(parts, row, ended);
      return isSuccess(ended);
    },

    async sendRequested(sending) {
      const { row } = sending;
      const [request] = await database.read(selectRequest, { id: row.id });
      if (request === undefined) return;
      const { request_id: requestId, message_id: messageId, position } = request;
      const event = toEvent(request);
      // Since the request, the event may have been deleted, or the types of the webhook may have changed.
      if (position !== 0n && (event === null || !canSee(readerOf(row), event)))
        return await dropRequest(database, requestId);
      const write = () =>
        event === null ? writePing(messageId, Number(row.now_ms)) : writeEvent(event, readerOf(row), ids);
      const ended = await attempt(sending, messageId, write);
      if (ended === null) return;
      const outcome = { revision: row.revision, isGone: isGone(ended) ? 1n : 0n, requestId };
      const noted = await database.transact(noteRequested, { ...toAttempted(row, ended), ...outcome });
      if (isGone(ended) && isDisabled(noted, row)) observer.onDisabled(row.public_id, 'it answered 410');
    },
  };
}

/** Records a failed attempt. Schedules the next attempt or disables the webhook. */
async function recordFailure(
  { database, mayDisable, observer }: AttemptParts,
  row: DeliveryRow,
  ended: Ended,
): Promise<void> {
  const retryAfter = 'status' in ended ? ended.retryAfter : undefined;
  const retryAfterMs = readRetryAfterMs(retryAfter, Number(row.now_ms));
  const waitMs = planWaitMs(Number(row.failures) + 1, Math.random(), retryAfterMs);
  const noted = await database.transact(noteFailure, {
    ...toAttempted(row, ended),
    revision: row.revision,
    waitMs: BigInt(waitMs),
    failingMsMax: (await mayDisable()) ? BigInt(failingMsMax) : int64Max,
    failuresMin: BigInt(failingAttemptsMin),
    isGone: isGone(ended) ? 1n : 0n,
  });
  if (!isDisabled(noted, row)) return;
  const reason = isGone(ended) ? 'it answered 410' : 'no attempt has succeeded for 5 days';
  observer.onDisabled(row.public_id, reason);
}

/** Signs and posts a message. Whatever this throws is a failed attempt. */
async function tryPost(
  { post, signal, observer }: AttemptParts,
  row: DeliveryRow,
  secrets: Sending['secrets'],
  id: string,
  writeBody: () => string,
): Promise<AttemptResult> {
  try {
    const message: Message = { id, body: writeBody() };
    const headers = {
      ...signMessage(message, secrets, Number(row.now_ms)),
      'content-type': 'application/json',
      'user-agent': 'animal-store-webhooks',
    };
    return await post(row.url, headers, message.body, signal);
  } catch (error) {
    observer.onFault(row.public_id, error);
    return { failure: 'refused' };
  }
}

function writePing(id: string, atMs: number): string {
  return JSON.stringify({ id, type: 'webhook.ping', timestamp: new Date(atMs).toISOString(), data: {} });
}

function toAttempted({ id }: DeliveryRow, ended: Ended): Attempted {
  return { id, messageId: ended.messageId, result: toText(ended), durationMs: ended.durationMs };
}

/** Returns true if the recorded result disabled the webhook, and not a change by its owner. */
function isDisabled(
  noted: Pick<DeliveryRow, 'status' | 'revision'> | null,
  { status, revision }: DeliveryRow,
): boolean {
  return status === 'enabled' && noted?.status === 'disabled' && noted.revision === revision;
}

function isGone(result: AttemptResult): boolean {
  return 'status' in result && result.status === gone;
}

function isSuccess(result: AttemptResult): boolean {
  return 'status' in result && result.status >= 200 && result.status < 300;
}

function toText(result: AttemptResult): string {
  return 'status' in result ? String(result.status) : result.failure;
}
