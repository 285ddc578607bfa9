import { type RawBuilder, sql } from 'kysely';
import { eventTypes } from '../events/event.ts';
import { isOrderType } from '../events/event-reader.ts';
import { type EventRow, newest } from '../events/feed-page.ts';
import { int64Max } from '../int64.ts';
import { type Dialect, statement } from '../storage/database.ts';
import { plannedMsMax } from './rules/retry.ts';
import type { TimedRow, WebhookRow } from './webhook-rows.ts';

const isDue = ({ nowMs }: Dialect) =>
  sql<boolean>`webhooks.status = 'enabled' and (webhooks.next_attempt_at_ms <= ${nowMs}
    or webhooks.next_attempt_at_ms > ${nowMs} + ${sql.lit(plannedMsMax)})`;

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

const accountAndType = sql`cast(events.account_id as text) || ' ' || events.type`;
const ownAndWanted = sql`cast(webhooks.account_id as text) || ' ' || wanted.type`;

/** Like `nextOfAny`, of the account of the webhook. */
const nextOfOwn = sql`(select events.id from events
  where events.account_id is not null
    and (${accountAndType}, events.id) > (${ownAndWanted}, webhooks.position)
    and (${accountAndType}, events.id) < (${ownAndWanted}, ${sql.lit(int64Max)})
  order by ${accountAndType}, events.id limit 1)`;

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

/** Selects `count` webhooks with requested messages, the oldest message first. */
export const selectRequested = statement<{ count: bigint }>()((query, p) =>
  query
    .selectFrom('webhook_requests')
    .innerJoin('webhooks', 'webhooks.id', 'webhook_requests.webhook_id')
    .select('webhooks.id')
    .where(ofActiveAccount)
    .groupBy('webhooks.id')
    .orderBy(({ fn }) => fn.min('webhook_requests.id'))
    .limit(p.count),
);

/** The columns of an event in a join with the table `events`. All are null if there is none. */
const eventColumns = [
  'events.id as event_id',
  'events.at_ms as event_at_ms',
  'events.type as event_type',
  'events.account_id as event_account_id',
  sql<string | null>`(select name from accounts where accounts.id = events.account_id)`.as('event_account'),
  'events.data as event_data',
  'events.previous as event_previous',
] as const;

type EventColumns = { readonly [K in keyof EventRow as `event_${K}`]: EventRow[K] | null };

/** Returns the event of a row with `eventColumns`, or null. */
export function toEvent(row: EventColumns): EventRow | null {
  const { event_id: id, event_at_ms: at_ms, event_type: type, event_data: data } = row;
  if (id === null || at_ms === null || type === null || data === null) return null;
  const { event_account_id: account_id, event_account: account, event_previous: previous } = row;
  return { id, at_ms, type, account_id, account, data, previous };
}

/** Selects the oldest requested message of a webhook, with its event. A ping has position 0 and no event. */
export const selectRequest = statement<{ id: bigint }>()((query, p) =>
  query
    .selectFrom('webhook_requests')
    .leftJoin('events', 'events.id', 'webhook_requests.position')
    .select(['webhook_requests.id as request_id', 'message_id', 'position'])
    .select(eventColumns)
    .where('webhook_id', '=', p.id)
    .orderBy('webhook_requests.id')
    .limit(sql.lit(1)),
);

/** A webhook, its next event and one of its secrets. */
export interface SendingRow extends TimedRow, EventColumns {
  readonly secret: Uint8Array;
  /** 1 if the next event may be sent now, else 0. */
  readonly is_due: bigint;
  /** The bounds of the feed, when the next event was read. */
  readonly deleted_to: bigint;
  readonly newest: bigint;
}

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
    .select(['secret', dialect.nowMs.as('now_ms')])
    .select(eventColumns)
    .where(({ or, eb }) =>
      or([eb('ends_at_ms', 'is', null), eb('ends_at_ms', '>', sql<bigint>`${dialect.nowMs}`)]),
    )
    .orderBy('webhook_secrets.id', 'desc')
    .$castTo<SendingRow>(),
);

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

/** Disables a webhook whose next events are deleted. If its position has changed, does nothing and returns no row. */
export const disableLost = statement<{ id: bigint; position: bigint }>()((query, p) =>
  query
    .updateTable('webhooks')
    .set({ status: sql.lit('disabled'), disabled_because: sql.lit('failing') })
    .where('id', '=', p.id)
    .where('position', '=', p.position)
    .returning('id'),
);
