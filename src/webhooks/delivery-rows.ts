import { type RawBuilder, sql } from 'kysely';
import { newest } from '../events/event-rows.ts';
import { type Dialect, statement } from '../storage/database.ts';
import type { WebhookRow } from './webhook.ts';

const columns = [
  'webhooks.id',
  'public_id',
  'webhooks.account_id',
  'key_id',
  'url',
  'types',
  'sees_pets',
  'sees_orders',
  'webhooks.status',
  'position',
  'last_attempt_at_ms',
  'last_result',
  'revision',
  'failures',
  'ping_id',
] as const;

/** A row of `webhooks` with the columns that a delivery needs. */
export interface DeliveryRow extends WebhookRow {
  readonly revision: bigint;
  readonly failures: bigint;
  readonly ping_id: string | null;
  readonly now_ms: bigint;
  /** 1 if the next event may be sent now, else 0. */
  readonly is_due: bigint;
}

const isDue = ({ nowMs }: Dialect) =>
  sql<boolean>`webhooks.status = 'enabled' and webhooks.next_attempt_at_ms <= ${nowMs}`;

const isBehind = (dialect: Dialect) =>
  sql<boolean>`webhooks.position < (select ${newest(dialect)} from event_horizon)`;

/** While an account is suspended, its webhooks receive nothing and keep their positions. */
const ofActiveAccount = sql<boolean>`exists (select 1 from accounts where accounts.id = webhooks.account_id and suspended_at_ms is null)`;

const toFlag = (condition: RawBuilder<boolean>) =>
  sql<bigint>`cast(case when ${condition} then 1 else 0 end as bigint)`;

/** Selects all webhooks that need an event or a ping now. */
export const selectDue = statement<Record<never, never>>()((query, _, dialect) =>
  query
    .selectFrom('webhooks')
    .select(columns)
    .select([
      toFlag(sql`${isDue(dialect)} and ${isBehind(dialect)}`).as('is_due'),
      dialect.nowMs.as('now_ms'),
    ])
    .where(sql<boolean>`(ping_id is not null or (${isDue(dialect)} and ${isBehind(dialect)}))`)
    .where(ofActiveAccount)
    .orderBy('webhooks.id'),
);

/**
 * Selects a webhook with one row for each valid secret, the current secret first. Returns no row if the webhook does
 * not exist or its account is suspended.
 */
export const selectSending = statement<{ id: bigint }>()((query, p, dialect) =>
  query
    .selectFrom('webhooks')
    .innerJoin('webhook_secrets', 'webhook_secrets.webhook_id', 'webhooks.id')
    .select(columns)
    .select(['secret', toFlag(isDue(dialect)).as('is_due'), dialect.nowMs.as('now_ms')])
    .where('webhooks.id', '=', p.id)
    .where(ofActiveAccount)
    .where(({ or, eb }) =>
      or([eb('ends_at_ms', 'is', null), eb('ends_at_ms', '>', sql<bigint>`${dialect.nowMs}`)]),
    )
    .orderBy('webhook_secrets.id', 'desc'),
);

/**
 * Advances webhooks past events that they do not receive. `ids` is a JSON array of integers. `states` is a JSON array of
 * strings of the form `id position types`. A webhook whose position or types have changed stays unchanged. Returns the
 * ids of the advanced webhooks.
 */
export const passEvents = statement<{ ids: string; states: string; to: bigint }>()(
  (query, p, { listIntegers, listTexts }) =>
    query
      .updateTable('webhooks')
      .set({ position: p.to })
      .where('id', 'in', listIntegers(p.ids))
      .where(sql<string>`webhooks.id || ' ' || position || ' ' || types`, 'in', listTexts(p.states))
      .where('position', '<', p.to)
      .returning('id'),
);

/**
 * Records a successful delivery of the event `sent`, and advances a webhook whose position is right before this event.
 * If the position was changed during the delivery, keeps the changed position.
 */
export const recordSuccess = statement<{ id: bigint; sent: bigint; result: string }>()(
  (query, p, { nowMs }) =>
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
      .where('id', '=', p.id),
);

export type Failure = {
  id: bigint;
  revision: bigint;
  result: string;
  waitMs: bigint;
  failingMsMax: bigint;
  /** 1 to disable the webhook at once. */
  ends: bigint;
};

/**
 * Records a failed delivery and schedules the next attempt after `waitMs`. Disables a webhook that has failed for
 * `failingMsMax`. If the retries were restarted during the delivery, records only the result. Returns the status and
 * the revision of the webhook.
 */
export const recordFailure = statement<Failure>()((query, p, { nowMs }) => {
  const unlessChanged = (column: string, value: RawBuilder<unknown>) =>
    sql<never>`case when revision = cast(${p.revision} as bigint) then ${value} else ${sql.ref(column)} end`;
  const failsTooLong = sql`${nowMs} - coalesce(failing_since_ms, ${nowMs}) >= cast(${p.failingMsMax} as bigint)`;
  const ends = sql`case when cast(${p.ends} as bigint) = 1 or ${failsTooLong} then 'disabled' else status end`;
  return query
    .updateTable('webhooks')
    .set({
      status: unlessChanged('status', ends),
      failures: unlessChanged('failures', sql`failures + 1`),
      failing_since_ms: unlessChanged('failing_since_ms', sql`coalesce(failing_since_ms, ${nowMs})`),
      next_attempt_at_ms: unlessChanged('next_attempt_at_ms', sql`${nowMs} + cast(${p.waitMs} as bigint)`),
      last_attempt_at_ms: sql<bigint>`${nowMs}`,
      last_result: p.result,
    })
    .where('id', '=', p.id)
    .returning(['status', 'revision']);
});

export type PingResult = {
  id: bigint;
  revision: bigint;
  pingId: string;
  result: string;
  /** 1 to disable the webhook. */
  ends: bigint;
};

/**
 * Records the result of a ping. If the retries were restarted during the ping, does not disable the webhook. Returns
 * the status and the revision of the webhook.
 */
export const recordPing = statement<PingResult>()((query, p, { nowMs }) =>
  query
    .updateTable('webhooks')
    .set({
      ping_id: sql<null>`case when ping_id = cast(${p.pingId} as text) then null else ping_id end`,
      status: sql<string>`case when cast(${p.ends} as bigint) = 1 and revision = cast(${p.revision} as bigint)
        then 'disabled' else status end`,
      last_attempt_at_ms: sql<bigint>`${nowMs}`,
      last_result: p.result,
    })
    .where('id', '=', p.id)
    .returning(['status', 'revision']),
);

/** Disables a webhook whose next events are deleted. If its position has changed, does nothing and returns no row. */
export const disableLost = statement<{ id: bigint; position: bigint }>()((query, p) =>
  query
    .updateTable('webhooks')
    .set({ status: sql.lit('disabled') })
    .where('id', '=', p.id)
    .where('position', '=', p.position)
    .returning('id'),
);
