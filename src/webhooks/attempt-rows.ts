import { type Selectable, sql } from 'kysely';
import { dayMs } from '../clock.ts';
import { type Database, statement, step, together, transaction } from '../storage/database.ts';
import { deletesOld, isBeyondNewest } from '../storage/delete-old.ts';
import { pick } from '../storage/insert-row.ts';
import { readStoreTime } from '../storage/store-facts.ts';
import type { Tables } from '../storage/tables.ts';
import { deleteRequest } from './requested-messages.ts';
import { failingAttemptsMin, failingMsMax } from './rules/retry.ts';
import { type Attempt, toResult } from './webhook.ts';
import { lockWebhook, type TimedRow, updateWebhook, type WebhookRow } from './webhook-rows.ts';

/** The attempts of a webhook that its owner can list: the last 100 of 7 days. */
const attemptsMax = 100;
const attemptsKeptMs = 7 * dayMs;

export interface EndedAttempt {
  readonly publicId: string;
  readonly messageId: string;
  readonly result: string;
  readonly durationMs: bigint;
  /** The start of the answer as UTF-8. Null if there was none that may be shown. */
  readonly answerStart: Uint8Array | null;
  readonly revision: bigint;
  /** Where the message was sent. */
  readonly url: string;
  /** The position of the event that was sent, or the row id of the requested message. */
  readonly sent: { readonly position: bigint } | { readonly requestId: bigint };
  /** Time until the next attempt, if this one has failed. */
  readonly waitMs: bigint;
  /** False if a clock has leapt, so that the time since the first failure may be wrong. */
  readonly mayDisable: boolean;
}

export function isSuccess(result: string): boolean {
  return /^2\d\d$/.test(result);
}

/** Returns the state of a webhook after an attempt. A requested message changes only the result, or finds it gone. */
function applyAttempt(row: TimedRow, attempt: EndedAttempt): WebhookRow {
  const { result, revision, sent, waitMs, mayDisable } = attempt;
  const { now_ms: nowMs, ...before } = row;
  const noted = { ...before, last_attempt_at_ms: nowMs, last_result: result };
  if ('position' in sent && isSuccess(result)) {
    // A position that was changed during the attempt stays.
    const position = row.position === sent.position - 1n ? sent.position : row.position;
    return { ...noted, position, failures: 0n, failing_since_ms: null, next_attempt_at_ms: 0n };
  }
  // The retries were restarted during the attempt.
  if (row.revision !== revision) return noted;
  if (result === '410' && row.status === 'enabled')
    return { ...noted, status: 'disabled', disabled_because: 'gone' };
  if ('requestId' in sent) return noted;
  // If a clock was set back to before the first failure, the time of failing begins now.
  const sinceMs = row.failing_since_ms ?? nowMs;
  const failed = {
    ...noted,
    failures: row.failures + 1n,
    failing_since_ms: sinceMs < nowMs ? sinceMs : nowMs,
    next_attempt_at_ms: nowMs + waitMs,
  };
  const failsTooLong = nowMs - sinceMs >= failingMsMax && failed.failures >= failingAttemptsMin;
  if (!failsTooLong || !mayDisable || row.status !== 'enabled') return failed;
  return { ...failed, status: 'disabled', disabled_because: 'failing' };
}

const newColumns = ['message_id', 'at_ms', 'result', 'duration_ms', 'is_manual', 'answer_start'] as const;
const columns = [...newColumns, 'attempt'] as const;

/**
 * One more than the last attempt of the same message that is kept, or 1. A row of 1.2.0 has no number, so the rows of the
 * message count as well.
 */
const nextAttempt = (webhookId: bigint, messageId: string) => sql<bigint>`(
  select 1 + case when max(attempt) >= count(*) then max(attempt) else count(*) end
  from webhook_attempts where webhook_id = ${webhookId} and message_id = ${messageId})`;

type NewAttempt = Pick<Selectable<Tables['webhook_attempts']>, 'webhook_id' | (typeof newColumns)[number]>;

const insertAttempt = statement((query, p: NewAttempt) =>
  query.insertInto('webhook_attempts').values({
    ...pick(p, ['webhook_id', ...newColumns]),
    attempt: nextAttempt(p.webhook_id, p.message_id),
  } as never),
);

const deleteOldAttempts = statement((query, p: { id: bigint }) =>
  query
    .deleteFrom('webhook_attempts')
    .where('webhook_id', '=', p.id)
    .where(isBeyondNewest('webhook_attempts', 'webhook_id', p.id, attemptsMax)),
);

/** Records an attempt, unless the webhook is deleted. Returns why this attempt has disabled the webhook, or null. */
export const noteAttempt = transaction('noteAttempt', 'row locks', function* (attempt: EndedAttempt) {
  const { publicId, messageId, result, durationMs, answerStart, sent } = attempt;
  const [row] = yield* step(lockWebhook, { publicId });
  if (row === undefined) return null;
  const noted = applyAttempt(row, attempt);
  const ended = {
    webhook_id: row.id,
    message_id: messageId,
    at_ms: row.now_ms,
    result,
    duration_ms: durationMs,
    is_manual: 'requestId' in sent ? 1n : 0n,
    answer_start: answerStart,
  };
  yield* together(
    step(updateWebhook, noted),
    step(insertAttempt, ended),
    step(deleteOldAttempts, { id: row.id }),
  );
  // If the webhook got another URL during the attempt, the message is sent once more, to that one.
  if ('requestId' in sent && row.url === attempt.url) yield* step(deleteRequest, sent);
  return row.status === noted.status ? null : (noted.disabled_because as 'gone' | 'failing');
});

const selectAttempts = statement((query, p: { id: bigint }, { nowMs }) =>
  query
    .selectFrom('webhook_attempts')
    .select(columns)
    .where('webhook_id', '=', p.id)
    .where(sql<boolean>`at_ms > ${nowMs} - ${sql.lit(attemptsKeptMs)}`)
    .orderBy('id', 'desc')
    .limit(sql.lit(attemptsMax)),
);

export async function listAttempts(database: Database, id: bigint): Promise<readonly Attempt[]> {
  const rows = await database.read(selectAttempts, { id });
  return rows.map(({ message_id, at_ms, result, duration_ms, attempt, is_manual, answer_start }) => ({
    eventId: message_id,
    ...toResult(at_ms, result),
    durationMs: Number(duration_ms),
    attempt: attempt === null ? null : Number(attempt),
    isManual: is_manual === null ? null : is_manual === 1n,
    answerStart: answer_start === null ? null : Buffer.from(answer_start).toString(),
  }));
}

const deleteExpired = deletesOld('webhook_attempts', ['id'], 'at_ms', 'key');

export async function expireAttempts(database: Database): Promise<void> {
  await deleteExpired(database, (await readStoreTime(database)) - attemptsKeptMs);
}
