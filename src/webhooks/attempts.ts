import type { EventIds } from '../events/event-ids.ts';
import type { EventRow } from '../events/feed-page.ts';
import { writeEvent } from '../events/write-events.ts';
import { int64Max } from '../int64.ts';
import type { Database } from '../storage/database.ts';
import {
  type DeliveryRow,
  recordFailure,
  recordPing,
  recordSuccess,
  selectSending,
  toNextEvent,
} from './delivery-rows.ts';
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
  readonly secrets: readonly Uint8Array[];
}

/** Sends messages to webhooks and records the results. */
export interface Attempts {
  /**
   * Reads the current state of a webhook. Returns null if the webhook is deleted, its account is suspended, or its
   * secrets cannot be decrypted.
   */
  read(id: bigint): Promise<Sending | null>;
  /**
   * Sends the event right after the position of a webhook and records the result. Returns true if the delivery
   * succeeded.
   */
  sendEvent(sending: Sending, event: EventRow): Promise<boolean>;
  /** Sends a ping and records the result. */
  sendPing(sending: Sending, pingId: string): Promise<void>;
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

const gone = 410;

export function createAttempts(parts: AttemptParts): Attempts {
  const { database, ids, box, post, observer, mayBegin, signal } = parts;

  /** Returns null if the attempt may not begin, or if `signal` aborts before there is a response. */
  async function attempt({ row, secrets }: Sending, write: () => Message): Promise<AttemptResult | null> {
    // The reads before an attempt may have taken long, so this check comes right before the request.
    if (!mayBegin()) return null;
    let result: AttemptResult;
    try {
      const message = write();
      const signed = signMessage(message, secrets, Number(row.now_ms));
      const headers = {
        ...signed,
        'content-type': 'application/json',
        'user-agent': 'animal-store-webhooks',
      };
      result = await post(row.url, headers, message.body, signal);
    } catch (error) {
      observer.onFault(row.public_id, error);
      result = { failure: 'refused' };
    }
    if ('failure' in result && signal.aborted) return null;
    observer.onAttempt(toText(result));
    return result;
  }

  return {
    async read(id) {
      const rows = await database.read(selectSending, { id });
      const [row] = rows;
      if (row === undefined) return null;
      const secrets = rows.map(({ secret }) => box.open(secret, row.public_id)).filter((one) => one !== null);
      if (secrets.length > 0) return { row, event: toNextEvent(row), secrets };
      observer.onSealed(row.public_id);
      return null;
    },

    async sendEvent(sending, event) {
      const { row } = sending;
      const write = () => ({ id: ids.write(event.id), body: writeEvent(event, readerOf(row), ids) });
      const result = await attempt(sending, write);
      if (result === null) return false;
      if (!isSuccess(result)) {
        await noteFailure(parts, row, result);
        return false;
      }
      await database.run(recordSuccess, { id: row.id, sent: event.id, result: toText(result) });
      return true;
    },

    async sendPing(sending, pingId) {
      const { row } = sending;
      const timestamp = new Date(Number(row.now_ms)).toISOString();
      const body = JSON.stringify({ id: pingId, type: 'webhook.ping', timestamp, data: {} });
      const result = await attempt(sending, () => ({ id: pingId, body }));
      if (result === null) return;
      const { id, revision } = row;
      const ends = isGone(result) ? 1n : 0n;
      const noted = await database.run(recordPing, { id, revision, pingId, result: toText(result), ends });
      if (isGone(result) && isDisabled(noted, row)) observer.onDisabled(row.public_id, 'it answered 410');
    },
  };
}

/** Records a failed attempt. Schedules the next attempt or disables the webhook. */
async function noteFailure(
  { database, observer, mayDisable }: Pick<AttemptParts, 'database' | 'observer' | 'mayDisable'>,
  row: DeliveryRow,
  result: AttemptResult,
): Promise<void> {
  const { id, revision, public_id, failures, now_ms } = row;
  const retryAfter = 'status' in result ? result.retryAfter : undefined;
  const retryAfterMs = readRetryAfterMs(retryAfter, Number(now_ms));
  const waitMs = planWaitMs(Number(failures) + 1, Math.random(), retryAfterMs);
  const noted = await database.run(recordFailure, {
    id,
    revision,
    result: toText(result),
    waitMs: BigInt(waitMs),
    failingMsMax: (await mayDisable()) ? BigInt(failingMsMax) : int64Max,
    failuresMin: BigInt(failingAttemptsMin),
    ends: isGone(result) ? 1n : 0n,
  });
  if (!isDisabled(noted, row)) return;
  observer.onDisabled(public_id, isGone(result) ? 'it answered 410' : 'no attempt has succeeded for 5 days');
}

/** Returns true if the recorded result disabled the webhook, and not a change by its owner. */
function isDisabled(
  [noted]: readonly Pick<DeliveryRow, 'status' | 'revision'>[],
  { revision }: DeliveryRow,
): boolean {
  return noted?.status === 'disabled' && noted.revision === revision;
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
