import { type RawBuilder, sql } from 'kysely';
import { eventTypes } from '../events/event.ts';
import { isOrderType } from '../events/event-reader.ts';
import { type EventRow, newest } from '../events/feed-page.ts';
import { int64Max } from '../int64.ts';
import { type Dialect, statement } from '../storage/database.ts';
import type { WebhookRow } from './webhook.ts';

const isDue = ({ nowMs }: Dialect) =>
  sql<boolean>`webhooks.status = 'enabled' and webhooks.next_attempt_at_ms <= ${nowMs}`;

const isBehind = sql<boolean>`webhooks.position < ${newest}`;

/** While an account is suspended, its webhooks receive nothing and keep their positions. */
const ofActiveAccount = sql<boolean>`exists (select 1 from accounts where accounts.id = webhooks.account_id and suspended_at_ms is null)`;

const toFlag = (condition: RawBuilder<boolean>) =>
  sql<bigint>`cast(case when ${condition} then 1 else 0 end as bigint)`;

/**
 * The first event after the position with the type `wanted.type`. The comparisons of rows and the order by all columns
 * leave an index search as the only plan: the search costs the same however many events of other types there are.
 */
const nextOfAny = sql`(select events.id from events
  where (events.type, events.id) > (wanted.type, webhooks.position)
    and (events.type, events.id) < (wanted.type, ${sql.lit(int64Max)})
  order by events.type, events.id limit 1)`;

/** Like `nextOfAny`, of the account of the webhook. */
const nextOfOwn = sql`(select events.id from events
  where events.account_id is not null
    and (events.account_id, events.type, events.id) > (webhooks.account_id, wanted.type, webhooks.position)
    and (events.account_id, events.type, events.id) < (webhooks.account_id, wanted.type, ${sql.lit(int64Max)})
  order by events.account_id, events.type, events.id limit 1)`;

const allTypes = sql.join(
  eventTypes.map(
    (type) => sql`select ${sql.lit(type)} as type, ${sql.lit(isOrderType(type) ? 1 : 0)} as is_order`,
  ),
  sql` union all `,
);

/** SQL expression for the next event of a row of `webhooks`, or null. It finds only events that the webhook may see. */
const nextEventId = sql<bigint | null>`(select min(case
    when wanted.is_order = 0 and webhooks.sees_pets = 0 then null
    when wanted.is_order = 1 and webhooks.sees_orders = 'none' then null
    when wanted.is_order = 1 and webhooks.sees_orders = 'own' then ${nextOfOwn}
    else ${nextOfAny} end)
  from (${allTypes}) as wanted where ' ' || webhooks.types || ' ' like '% ' || wanted.type || ' %')`;

/** A webhook that is behind the end of the feed and waits for no retry. */
export interface DueRow extends Pick<WebhookRow, 'id' | 'position' | 'types'> {
  /** Null if the webhook only needs a new position. */
  readonly next_id: bigint | null;
  /** The end of the feed, when `next_id` was read. */
  readonly newest: bigint;
}

/** Selects the `count` webhooks that are due and farthest behind, after a position and the id of a webhook there. */
export const selectDue = statement<{ afterPosition: bigint; afterId: bigint; count: bigint }>()(
  (query, p, dialect) =>
    query
      .selectFrom('webhooks')
      .select(['webhooks.id', 'position', 'types', nextEventId.as('next_id'), newest.as('newest')])
      .where(isDue(dialect))
      .where(isBehind)
      .where(sql<boolean>`(webhooks.position, webhooks.id) > (${p.afterPosition}, ${p.afterId})`)
      .where(ofActiveAccount)
      .orderBy('position')
      .orderBy('webhooks.id')
      .limit(p.count),
);

/** Selects `count` webhooks with a pending ping. */
export const selectPinged = statement<{ count: bigint }>()((query, p) =>
  query
    .selectFrom('webhooks')
    .select('webhooks.id')
    .where('ping_id', 'is not', null)
    .where(ofActiveAccount)
    .orderBy('webhooks.id')
    .limit(p.count),
);

/** A row of `webhooks` with the columns that a delivery needs. */
export interface DeliveryRow extends WebhookRow {
  readonly revision: bigint;
  readonly failures: bigint;
  readonly ping_id: string | null;
  readonly now_ms: bigint;
  /** 1 if the next event may be sent now, else 0. */
  readonly is_due: bigint;
  /** The bounds of the feed, when the next event was read. */
  readonly deleted_to: bigint;
  readonly newest: bigint;
}

/** The next event of a webhook, in the columns of a `SendingRow`. All are null if there is none. */
type NextEventColumns = { readonly [K in keyof EventRow as `event_${K}`]: EventRow[K] | null };

export type SendingRow = DeliveryRow & NextEventColumns & { readonly secret: Uint8Array };

/**
 * Selects a webhook and its next event, with one row for each valid secret, the current secret first. Returns no row if
 * the webhook does not exist or its account is suspended.
 */
export const selectSending = statement<{ id: bigint }>()((query, p, dialect) =>
  query
    .with(
      (cte) => cte('due').materialized(),
      (creator) =>
        creator
          .selectFrom('webhooks')
          .selectAll()
          .select([
            toFlag(isDue(dialect)).as('is_due'),
            nextEventId.as('next_id'),
            newest.as('newest'),
            sql<bigint>`(select deleted_to from event_horizon)`.as('deleted_to'),
          ])
          .where('webhooks.id', '=', p.id)
          .where(ofActiveAccount),
    )
    .selectFrom('due')
    .innerJoin('webhook_secrets', 'webhook_secrets.webhook_id', 'due.id')
    .leftJoin('events', 'events.id', 'due.next_id')
    .selectAll('due')
    .select([
      'secret',
      dialect.nowMs.as('now_ms'),
      'events.id as event_id',
      'events.at_ms as event_at_ms',
      'events.type as event_type',
      'events.account_id as event_account_id',
      sql<string | null>`(select name from accounts where accounts.id = events.account_id)`.as(
        'event_account',
      ),
      'events.data as event_data',
      'events.previous as event_previous',
    ])
    .where(({ or, eb }) =>
      or([eb('ends_at_ms', 'is', null), eb('ends_at_ms', '>', sql<bigint>`${dialect.nowMs}`)]),
    )
    .orderBy('webhook_secrets.id', 'desc')
    .$castTo<SendingRow>(),
);

/** Returns the next event of a webhook, or null. */
export function toNextEvent(row: SendingRow): EventRow | null {
  const { event_id: id, event_at_ms: at_ms, event_type: type, event_data: data } = row;
  if (id === null || at_ms === null || type === null || data === null) return null;
  const { event_account_id: account_id, event_account: account, event_previous: previous } = row;
  return { id, at_ms, type, account_id, account, data, previous };
}

/**
 * Selects the `count` active webhooks that are farthest behind the end of the feed, and the age of their next event in
 * milliseconds, or null. A webhook is active if it is enabled and its account is not suspended.
 */
export const selectLags = statement<{ count: bigint }>()((query, p, { nowMs }) =>
  query
    .with(
      (cte) => cte('page').materialized(),
      (creator) =>
        creator
          .selectFrom('webhooks')
          .select(['public_id', nextEventId.as('next_id')])
          .where('webhooks.status', '=', sql.lit('enabled'))
          .where(isBehind)
          .where(ofActiveAccount)
          .orderBy('position')
          .limit(p.count),
    )
    .selectFrom('page')
    .innerJoin('events', 'events.id', 'page.next_id')
    .select(['public_id', sql<bigint>`${nowMs} - events.at_ms`.as('behind_ms')])
    .orderBy('events.id'),
);

/**
 * Advances webhooks past events that they do not receive. `ids` is a JSON array of integers. `states` is a JSON array of
 * strings of the form `id position types`. A webhook whose position or types have changed stays unchanged. Returns the
 * ids of the advanced webhooks.
 */
export const passEvents = statement<{ ids: string; states: string; to: bigint }>()(
  (query, p, { isAmong, listTexts }) =>
    query
      .updateTable('webhooks')
      .set({ position: p.to })
      .where(isAmong('id', p.ids))
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
  failuresMin: bigint;
  /** 1 to disable the webhook at once. */
  ends: bigint;
};

/**
 * Records a failed delivery and schedules the next attempt after `waitMs`. Disables a webhook that has failed for
 * `failingMsMax` and at least `failuresMin` times. If the retries were restarted during the delivery, records only the
 * result. Returns the status and the revision of the webhook.
 */
export const recordFailure = statement<Failure>()((query, p, { nowMs }) => {
  const unlessChanged = (column: string, value: RawBuilder<unknown>) =>
    sql<never>`case when revision = cast(${p.revision} as bigint) then ${value} else ${sql.ref(column)} end`;
  const failsTooLong = sql`(${nowMs} - coalesce(failing_since_ms, ${nowMs}) >= cast(${p.failingMsMax} as bigint)
    and failures + 1 >= cast(${p.failuresMin} as bigint))`;
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
