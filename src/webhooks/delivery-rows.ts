import { type RawBuilder, sql } from 'kysely';
import { type EventType, eventTypes } from '../events/event.ts';
import { isOrderType } from '../events/event-reader.ts';
import { indexOfType, newest } from '../events/feed-page.ts';
import { type RowOf, statement } from '../storage/database.ts';
import type { Dialect, Keyset } from '../storage/dialect.ts';
import { plannedMsMax } from './rules/retry.ts';

/** Maximum number of webhooks in one read of the requested messages, and in one read of the lags. */
const requestedRows = 1_000;
const shownLagsMax = 20;

const isDue = ({ nowMs }: Dialect) =>
  sql<boolean>`webhooks.status = 'enabled' and (webhooks.next_attempt_at_ms <= ${nowMs}
    or webhooks.next_attempt_at_ms > ${nowMs} + ${sql.lit(plannedMsMax)})`;

const isBehind = sql<boolean>`webhooks.position < ${newest}`;

const hasLostEvents = sql<boolean>`webhooks.position < (select deleted_to from event_horizon)`;

const toFlag = (condition: RawBuilder<unknown>) =>
  sql<bigint>`cast(case when ${condition} then 1 else 0 end as bigint)`;

/** While an account is suspended, its webhooks receive nothing and keep their positions. */
const ofActiveAccount = sql<boolean>`exists (select 1 from accounts where accounts.id = webhooks.account_id and suspended_at_ms is null)`;

/** SQL expression for the first event after the position of a webhook: one search in the index over `key`. */
function searchNext(condition: RawBuilder<unknown>, key: Keyset[number], { keysetAfter }: Dialect) {
  const { where, orderBy } = keysetAfter([key], sql`webhooks.position`);
  return sql`(select id from events where ${condition} and ${where} order by ${orderBy} limit 1)`;
}

const ofAnyAccount = indexOfType.all(sql`wanted.type`);
const ofOwnAccount = indexOfType.own(sql`wanted.type`, sql`webhooks.account_id`);

const allTypes = sql.join(
  eventTypes.map(
    (type) => sql`select ${sql.lit(type)} as type, ${sql.lit(isOrderType(type) ? 1 : 0)} as is_order`,
  ),
  sql` union all `,
);

/** SQL expression for the next event of a row of `webhooks`, or null. It finds only events that the webhook may see. */
const nextEventId = (dialect: Dialect) => sql<bigint | null>`(select min(case
    when wanted.is_order = 0 and webhooks.sees_pets = 0 then null
    when wanted.is_order = 1 and webhooks.sees_orders = 'none' then null
    when wanted.is_order = 1 and webhooks.sees_orders = 'own' then ${searchNext(...ofOwnAccount, dialect)}
    else ${searchNext(...ofAnyAccount, dialect)} end)
  from (${allTypes}) as wanted where ' ' || webhooks.types || ' ' like '% ' || wanted.type || ' %')`;

/**
 * Selects the `count` webhooks that are behind the end of the feed and wait for no retry, farthest behind first, after a
 * position and the id of a webhook there. `next_id` is null if no event is left. `is_lost`: later events are deleted.
 */
export const selectDue = statement(
  (query, p: { afterPosition: bigint; afterId: bigint; count: bigint }, dialect) =>
    query
      .selectFrom('webhooks')
      .select(['id', 'public_id', 'account_id', 'position', nextEventId(dialect).as('next_id')])
      .select(toFlag(hasLostEvents).as('is_lost'))
      .where(isDue(dialect))
      .where(isBehind)
      .where(sql<boolean>`(webhooks.position, webhooks.id) > (${p.afterPosition}, ${p.afterId})`)
      .where(ofActiveAccount)
      .orderBy('position')
      .orderBy('id')
      .limit(p.count),
);

export const selectRequested = statement((query) =>
  query
    .selectFrom('webhook_requests')
    .innerJoin('webhooks', 'webhooks.id', 'webhook_requests.webhook_id')
    .select(['webhooks.id', 'public_id', 'account_id'])
    .where(ofActiveAccount)
    .groupBy(['webhooks.id', 'public_id', 'account_id'])
    .orderBy(({ fn }) => fn.min('webhook_requests.id'))
    .limit(sql.lit(requestedRows)),
);

/** A webhook with something to send. */
export type DueWebhook = RowOf<typeof selectRequested>;

/** Selects a webhook of an active account, with `next_id` and `is_lost` as in `selectDue`. `is_due`: events may be sent. */
export const selectSending = statement((query, p: { id: bigint }, dialect) =>
  query
    .selectFrom('webhooks')
    .selectAll()
    .select([
      dialect.nowMs.as('now_ms'),
      toFlag(isDue(dialect)).as('is_due'),
      toFlag(hasLostEvents).as('is_lost'),
      nextEventId(dialect).as('next_id'),
    ])
    .where('id', '=', p.id)
    .where(ofActiveAccount),
);

export type SendingRow = RowOf<typeof selectSending>;

/** Maximum number of events that are counted for a disabled webhook. */
export const leftMax = 10_000;

/** SQL expressions that list the events of a type after the position of a webhook. A list is empty if it gets no such events. */
function listLeft(type: EventType, id: bigint, dialect: Dialect): readonly RawBuilder<unknown>[] {
  const name = sql.lit(type);
  const list = (sees: RawBuilder<unknown>, [condition, key]: ReturnType<typeof indexOfType.all>) => {
    const { where, orderBy } = dialect.keysetAfter([key], sql`webhooks.position`);
    // The planner of PostgreSQL does not know this limit, so it reads by the index in place of sorting all events.
    const most = sql`(select case when ${sees} and ' ' || types || ' ' like ${sql.lit(`% ${type} %`)}
      then ${sql.lit(leftMax + 1)} else 0 end from webhooks where id = ${id})`;
    return sql`select id from (select id from events where ${condition} and ${where}
      order by ${orderBy} limit ${most}) as of_type`;
  };
  const all = indexOfType.all(name);
  if (!isOrderType(type)) return [list(sql`sees_pets = 1`, all)];
  const own = indexOfType.own(name, sql`webhooks.account_id`);
  return [list(sql`sees_orders = 'all'`, all), list(sql`sees_orders = 'own'`, own)];
}

/** Counts the events after the position of a webhook that are kept and that it may see: at most one more than `leftMax`. */
export const countLeft = statement((query, p: { id: bigint }, dialect) => {
  const lists = eventTypes.flatMap((type) => listLeft(type, p.id, dialect));
  return query
    .selectFrom('webhooks')
    .select(
      sql<bigint>`(select count(*) from (
        select id from (${sql.join(lists, sql` union all `)}) as every_type
        limit ${sql.lit(leftMax + 1)}) as kept)`.as('count'),
    )
    .where('id', '=', p.id);
});

/** Selects the enabled webhooks of active accounts that are farthest behind, with the age of their next event or null. */
export const selectLags = statement((query, _, dialect) =>
  query
    .selectFrom('webhooks')
    .select([
      'public_id as id',
      sql<
        bigint | null
      >`(select ${dialect.nowMs} - at_ms from events where events.id = ${nextEventId(dialect)})`.as(
        'behind_ms',
      ),
    ])
    .where('status', '=', sql.lit('enabled'))
    .where(isBehind)
    .where(ofActiveAccount)
    .orderBy('position')
    .limit(sql.lit(shownLagsMax)),
);

export function toIds(webhooks: readonly { readonly id: bigint }[]): string {
  return `[${webhooks.map(({ id }) => id).join()}]`;
}

/**
 * Advances webhooks that have lost no events to right before their next events, or to the end of the feed, and returns
 * them. One statement finds the event and moves the position, so a change of `types` at the same time skips no event.
 */
export const passEvents = statement((query, p: { ids: string }, dialect) =>
  query
    .updateTable('webhooks')
    .set({ position: sql<bigint>`coalesce(${nextEventId(dialect)} - 1, ${newest})` })
    .where(dialect.isAmong('id', p.ids))
    .where(isDue(dialect))
    .where(isBehind)
    .where(({ not }) => not(hasLostEvents))
    .returning(['id', 'position']),
);

/** Disables a webhook whose next events are deleted. If its position has changed, does nothing and returns no row. */
export const disableLost = statement((query, p: { id: bigint; position: bigint }) =>
  query
    .updateTable('webhooks')
    .set({ status: sql.lit('disabled'), disabled_because: sql.lit('failing') })
    .where('id', '=', p.id)
    .where('position', '=', p.position)
    .returning('id'),
);
