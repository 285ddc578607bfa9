import { type Selectable, sql } from 'kysely';
import { newest } from '../events/feed-page.ts';
import { byFilters, type RowOf, statement } from '../storage/database.ts';
import { pick } from '../storage/insert-row.ts';
import type { PageRange } from '../storage/read-page.ts';
import type { Tables } from '../storage/tables.ts';

/** The columns that changes and attempts write. */
const stateColumns = [
  'url',
  'types',
  'status',
  'disabled_because',
  'position',
  'revision',
  'failures',
  'failing_since_ms',
  'next_attempt_at_ms',
  'last_attempt_at_ms',
  'last_result',
] as const;

export type WebhookRow = Selectable<Tables['webhooks']>;

/** Selects a webhook with the time of the store, and locks its row until the transaction ends. */
export const lockWebhook = statement((query, p: { publicId: string }, { lockRows, nowMs }) =>
  query
    .selectFrom('webhooks')
    .selectAll()
    .select(nowMs.as('now_ms'))
    .where('public_id', '=', p.publicId)
    .modifyEnd(lockRows),
);

export type TimedRow = RowOf<typeof lockWebhook>;

export const updateWebhook = statement((query, p: Pick<WebhookRow, 'id' | (typeof stateColumns)[number]>) =>
  query.updateTable('webhooks').set(pick(p, stateColumns)).where('id', '=', p.id),
);

/** Selects the webhooks that a key created, oldest first. */
export const selectWebhooksOfKey = statement((query, p: { keyId: string }) =>
  query
    .selectFrom('webhooks')
    .select(['public_id as id', 'url', 'status'])
    .where('key_id', '=', p.keyId)
    .orderBy('webhooks.id'),
);

export type WebhookFilter = {
  readonly accountId: bigint;
  readonly status: string;
  /** Only enabled webhooks whose last attempt has failed. */
  readonly isFailing: 1n;
  readonly publicId: string;
};

const filters = ['accountId', 'status', 'isFailing', 'publicId'] as const;

/** The position of a webhook, or the last deleted one if that is later: the events after it are kept. */
const keptFrom = sql<bigint>`(
  select case when deleted_to > position then deleted_to else position end from event_horizon)`;

/** How many positions after `keptFrom` have no event, because a restore or a promotion of PostgreSQL has skipped them. */
const skippedAfter = sql<bigint>`(
  select cast(coalesce(sum(skipped_to - case when lost_after > start then lost_after else start end), 0) as bigint)
  from event_gaps, (select ${keptFrom} as start) as kept where skipped_to > start)`;

export const selectWebhookPage = byFilters(filters, (query, p: WebhookFilter & PageRange, set, { nowMs }) =>
  query
    .selectFrom('webhooks')
    .selectAll()
    .select([
      // Uses subqueries, because the planner may read all accounts first in a join.
      sql<string>`(select name from accounts where accounts.id = webhooks.account_id)`.as('account'),
      sql<bigint | null>`(select suspended_at_ms from accounts where accounts.id = webhooks.account_id)`.as(
        'suspended_at_ms',
      ),
      sql<bigint>`${newest} - ${keptFrom} - ${skippedAfter}`.as('events_behind'),
      sql<
        bigint | null
      >`(select ${nowMs} - at_ms from events where events.id > webhooks.position order by events.id limit 1)`.as(
        'behind_ms',
      ),
    ])
    .where('id', '<=', p.newestId)
    .$if(set.accountId, (rows) => rows.where('account_id', '=', p.accountId))
    .$if(set.publicId, (rows) => rows.where('public_id', '=', p.publicId))
    // The expressions keep the planner from using the index on the status where another one is better: the index of
    // failing webhooks, or that on the account, which has at most `webhooksMax` webhooks.
    .$if(set.isFailing, (rows) => rows.where(sql<boolean>`failures > 0 and status || '' = 'enabled'`))
    .$if(set.status, (rows) =>
      rows.where(set.accountId ? sql<string>`status || ''` : 'status', '=', p.status),
    )
    .orderBy('id', 'desc')
    .limit(p.count),
);

export type ListedWebhookRow = RowOf<typeof selectWebhookPage>;

export const countWebhooks = statement((query, p: { accountId: bigint }) =>
  query
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('account_id', '=', p.accountId),
);

export const countDisabled = statement((query) =>
  query
    .selectFrom('webhooks')
    .select(['disabled_because', ({ fn }) => fn.countAll<bigint>().as('count')])
    .where('status', '=', sql.lit('disabled'))
    .groupBy('disabled_because'),
);

const newColumns = [
  'public_id',
  'account_id',
  'key_id',
  'url',
  'types',
  'sees_pets',
  'sees_orders',
  'position',
] as const;

export type NewWebhookRow = Pick<WebhookRow, (typeof newColumns)[number]>;

export const insertWebhook = statement((query, p: NewWebhookRow, { nowMs }) =>
  query
    .insertInto('webhooks')
    .values({
      ...pick(p, newColumns),
      status: sql.lit('enabled'),
      revision: sql<bigint>`0`,
      failures: sql<bigint>`0`,
      next_attempt_at_ms: sql<bigint>`0`,
      created_at_ms: sql<bigint>`${nowMs}`,
    })
    .returningAll(),
);

/** Deletes a webhook and all that belongs to it. */
export const deleteWebhook = statement((query, p: { id: bigint }) =>
  query.deleteFrom('webhooks').where('id', '=', p.id),
);
