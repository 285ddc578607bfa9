import { type RawBuilder, sql } from 'kysely';
import { dayMs } from '../clock.ts';
import { type Database, defineTransaction, type Steps, statement, step } from '../storage/database.ts';
import type { AttemptRow } from './webhook.ts';

/** The attempts of a webhook that its owner can list: the last 100 of 7 days. */
export const attemptsMax = 100n;
const attemptsKeptMs = 7 * dayMs;

/** An attempt that has ended. */
export type Attempted = {
  /** The row id of the webhook. */
  readonly id: bigint;
  /** The `webhook-id` of the message. */
  readonly messageId: string;
  /** The HTTP status, or why there was no response. */
  readonly result: string;
  readonly durationMs: bigint;
};

/** The state of a webhook after an attempt. */
interface Noted {
  readonly status: string;
  readonly revision: bigint;
}

/**
 * Records a successful delivery of the event `sent`, and advances a webhook whose position is right before this event.
 * If the position was changed during the delivery, keeps the changed position.
 */
const recordSuccess = statement<{ id: bigint; sent: bigint; result: string }>()((query, p, { nowMs }) =>
  query
    .updateTable('webhooks')
    .set({
      position: sql<bigint>`case when position = cast(${p.sent} as bigint) - 1 then cast(${p.sent} as bigint) else position end`,
      failures: sql<bigint>`0`,
      failing_since_ms: sql<null>`null`,
      next_attempt_at_ms: sql<bigint>`0`,
      last_attempt_at_ms: sql<bigint>`${nowMs}`,
      last_result: p.result,
    })
    .where('id', '=', p.id)
    .returning(['status', 'revision']),
);

type Failure = {
  id: bigint;
  revision: bigint;
  result: string;
  waitMs: bigint;
  failingMsMax: bigint;
  failuresMin: bigint;
  /** 1 to disable the webhook at once. */
  isGone: bigint;
};

/**
 * Records a failed delivery and schedules the next attempt after `waitMs`. Disables a webhook that has failed for
 * `failingMsMax` and at least `failuresMin` times. If a clock was set back to before the first failure, the time begins
 * now. If the retries were restarted during the delivery, records only the
 * result.
 */
const recordFailure = statement<Failure>()((query, p, { nowMs }) => {
  const unlessChanged = (column: string, value: RawBuilder<unknown>) =>
    sql<never>`case when revision = cast(${p.revision} as bigint) then ${value} else ${sql.ref(column)} end`;
  const isGone = sql`cast(${p.isGone} as bigint) = 1`;
  const failsTooLong = sql`(${nowMs} - coalesce(failing_since_ms, ${nowMs}) >= cast(${p.failingMsMax} as bigint)
    and failures + 1 >= cast(${p.failuresMin} as bigint))`;
  const because = sql`case when status = 'disabled' then disabled_because
    when ${isGone} then 'gone' when ${failsTooLong} then 'failing' end`;
  return query
    .updateTable('webhooks')
    .set({
      status: unlessChanged(
        'status',
        sql`case when ${isGone} or ${failsTooLong} then 'disabled' else status end`,
      ),
      disabled_because: unlessChanged('disabled_because', because),
      failures: unlessChanged('failures', sql`failures + 1`),
      failing_since_ms: unlessChanged(
        'failing_since_ms',
        sql`case when failing_since_ms < ${nowMs} then failing_since_ms else ${nowMs} end`,
      ),
      next_attempt_at_ms: unlessChanged('next_attempt_at_ms', sql`${nowMs} + cast(${p.waitMs} as bigint)`),
      last_attempt_at_ms: sql<bigint>`${nowMs}`,
      last_result: p.result,
    })
    .where('id', '=', p.id)
    .returning(['status', 'revision']);
});

type Requested = {
  id: bigint;
  revision: bigint;
  result: string;
  /** 1 to disable the webhook. */
  isGone: bigint;
};

/** Records the result of a requested message. If the retries were restarted since, does not disable the webhook. */
const recordRequested = statement<Requested>()((query, p, { nowMs }) => {
  const ends = sql`cast(${p.isGone} as bigint) = 1 and revision = cast(${p.revision} as bigint) and status = 'enabled'`;
  return query
    .updateTable('webhooks')
    .set({
      status: sql<string>`case when ${ends} then 'disabled' else status end`,
      disabled_because: sql<string>`case when ${ends} then 'gone' else disabled_because end`,
      last_attempt_at_ms: sql<bigint>`${nowMs}`,
      last_result: p.result,
    })
    .where('id', '=', p.id)
    .returning(['status', 'revision']);
});

const insertAttempt = statement<Attempted>()((query, p, { nowMs }) =>
  query.insertInto('webhook_attempts').values({
    webhook_id: p.id,
    message_id: p.messageId,
    at_ms: sql<bigint>`${nowMs}`,
    result: p.result,
    duration_ms: p.durationMs,
  }),
);

/** Deletes all attempts of a webhook but the newest `count`. */
const deleteOldAttempts = statement<{ id: bigint; count: bigint }>()((query, p) =>
  query
    .deleteFrom('webhook_attempts')
    .where('webhook_id', '=', p.id)
    .where(
      sql<boolean>`id <= (select older.id from webhook_attempts as older where older.webhook_id = ${p.id}
        order by older.id desc limit 1 offset ${p.count})`,
    ),
);

const deleteRequest = statement<{ requestId: bigint }>()((query, p) =>
  query.deleteFrom('webhook_requests').where('id', '=', p.requestId),
);

/** Adds an attempt to a webhook that the transaction has changed. Null if the webhook was deleted meanwhile. */
function* addAttempt(noted: Noted | undefined, attempted: Attempted): Steps<Noted | null> {
  if (noted === undefined) return null;
  yield* step(insertAttempt, attempted);
  yield* step(deleteOldAttempts, { id: attempted.id, count: attemptsMax });
  return noted;
}

/** Records an attempt that has delivered the event `sent`. Returns null if the webhook was deleted meanwhile. */
export const noteSuccess = defineTransaction(
  'noteSuccess',
  function* ({ sent, ...attempted }: Attempted & { readonly sent: bigint }): Steps<Noted | null> {
    const { id, result } = attempted;
    const [noted] = yield* step(recordSuccess, { id, sent, result });
    return yield* addAttempt(noted, attempted);
  },
  'row locks',
);

/** Records an attempt that has failed. Returns null if the webhook was deleted meanwhile. */
export const noteFailure = defineTransaction(
  'noteFailure',
  function* (failure: Attempted & Failure): Steps<Noted | null> {
    const { id, messageId, result, durationMs, ...rest } = failure;
    const [noted] = yield* step(recordFailure, { id, result, ...rest });
    return yield* addAttempt(noted, { id, messageId, result, durationMs });
  },
  'row locks',
);

/** Records the attempt of a requested message, which is then done. Returns null if the webhook was deleted meanwhile. */
export const noteRequested = defineTransaction(
  'noteRequested',
  function* (requested: Attempted & Requested & { readonly requestId: bigint }): Steps<Noted | null> {
    const { id, messageId, result, durationMs, revision, isGone, requestId } = requested;
    const [noted] = yield* step(recordRequested, { id, revision, result, isGone });
    yield* step(deleteRequest, { requestId });
    return yield* addAttempt(noted, { id, messageId, result, durationMs });
  },
  'row locks',
);

/** Drops a requested message that cannot be sent. */
export async function dropRequest(database: Database, requestId: bigint): Promise<void> {
  await database.run(deleteRequest, { requestId });
}

const selectAttempts = statement<{ id: bigint; keptMs: bigint; count: bigint }>()((query, p, { nowMs }) =>
  query
    .selectFrom('webhook_attempts')
    .select(['message_id', 'at_ms', 'result', 'duration_ms'])
    .where('webhook_id', '=', p.id)
    .where(sql<boolean>`at_ms > ${nowMs} - ${p.keptMs}`)
    .orderBy('id', 'desc')
    .limit(p.count),
);

/** Returns the last attempts of a webhook, newest first. */
export function listAttempts(database: Database, id: bigint): Promise<readonly AttemptRow[]> {
  const bounds = { keptMs: BigInt(attemptsKeptMs), count: attemptsMax };
  return Promise.resolve(database.read(selectAttempts, { id, ...bounds }));
}

/** Deletes the expired ones of the `count` oldest attempts, and returns their ids. */
const deleteExpired = statement<{ keptMs: bigint; count: bigint }>()((query, p, { nowMs }) =>
  query
    .deleteFrom('webhook_attempts')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('webhook_attempts as oldest').select('oldest.id').orderBy('oldest.id').limit(p.count),
    )
    .where(sql<boolean>`at_ms <= ${nowMs} - ${p.keptMs}`)
    .returning('id'),
);

/** Maximum number of attempts that one statement deletes. */
const expiredRows = 1_000;

/** Deletes the attempts that are older than 7 days. */
export async function expireAttempts(database: Database): Promise<void> {
  const bounds = { keptMs: BigInt(attemptsKeptMs), count: BigInt(expiredRows) };
  while ((await database.run(deleteExpired, bounds)).length === expiredRows);
}
