import { sql } from 'kysely';
import { newest } from '../events/feed-page.ts';
import { type Statement, statement } from '../storage/database.ts';
import type { WebhookRow } from './webhook.ts';

/** The columns of a `WebhookRow`. */
const webhookColumns = [
  'id',
  'public_id',
  'account_id',
  'key_id',
  'url',
  'types',
  'sees_pets',
  'sees_orders',
  'status',
  'position',
  'last_attempt_at_ms',
  'last_result',
  'disabled_because',
] as const;

/** Identifies a webhook of an account. */
export type WebhookName = { publicId: string; accountId: bigint };

/** Identifies a webhook. `accountId` null means any account. */
export type AnyWebhookName = { publicId: string; accountId: bigint | null };

export const selectWebhook = statement<WebhookName>()((query, p) =>
  query
    .selectFrom('webhooks')
    .select(webhookColumns)
    .where('public_id', '=', p.publicId)
    .where('account_id', '=', p.accountId),
);

/** Locks a webhook until the transaction ends, by a change that changes nothing, and returns its row. */
export const lockWebhook = statement<AnyWebhookName>()((query, p) =>
  query
    .updateTable('webhooks')
    .set({ revision: sql<bigint>`revision` })
    .where('public_id', '=', p.publicId)
    .where(sql<boolean>`account_id = coalesce(cast(${p.accountId} as bigint), account_id)`)
    .returning(webhookColumns),
);

/** Locks the enabled webhooks that a key created until the transaction ends, and returns their rows. */
export const lockWebhooksOfKey = statement<{ keyId: string }>()((query, p) =>
  query
    .updateTable('webhooks')
    .set({ revision: sql<bigint>`revision` })
    .where('key_id', '=', p.keyId)
    .where('status', '=', sql.lit('enabled'))
    .returning(webhookColumns),
);

/** Selects the webhooks that a key created, oldest first. */
export const selectWebhooksOfKey = statement<{ keyId: string }>()((query, p) =>
  query
    .selectFrom('webhooks')
    .select(['public_id', 'url', 'status'])
    .where('key_id', '=', p.keyId)
    .orderBy('id'),
);

/** The filters of a list of webhooks. Null means no filter. `failing`: enabled, and the last attempt has failed. */
export type WebhookFilter = {
  readonly accountId: bigint | null;
  readonly status: string | null;
  /** Only this webhook. */
  readonly publicId: string | null;
};

export interface ListedWebhookRow extends WebhookRow {
  readonly account: string;
  readonly suspended_at_ms: bigint | null;
  /** Number of events in the feed after `position`, of all types. */
  readonly events_behind: bigint;
  /** Age of the first event after `position` in milliseconds, by the store's clock. Null if there is none. */
  readonly behind_ms: bigint | null;
}

type PageParameters = WebhookFilter & { newestId: bigint; count: bigint };
type PageStatement = Statement<PageParameters, ListedWebhookRow>;

const pages = new Map<string, PageStatement>();

/**
 * Returns the statement for a page of webhooks with ids up to `newestId`, newest first. Each combination of filters has
 * its own statement, so that each statement can use the best index.
 */
export function selectWebhookPage(filter: WebhookFilter): PageStatement {
  const { accountId, status, publicId } = filter;
  const name = [
    accountId !== null,
    status === 'failing' ? status : status !== null,
    publicId !== null,
  ].join();
  const page = pages.get(name) ?? buildPage(filter);
  pages.set(name, page);
  return page;
}

function buildPage({ accountId, status, publicId }: WebhookFilter): PageStatement {
  const isFailing = status === 'failing';
  const hasStatus = status !== null && !isFailing;
  return statement<PageParameters>()((query, p, { nowMs }) =>
    query
      .selectFrom('webhooks')
      .select([
        ...webhookColumns,
        // Uses subqueries, because the planner may read all accounts first in a join.
        sql<string>`(select name from accounts where accounts.id = webhooks.account_id)`.as('account'),
        sql<bigint | null>`(select suspended_at_ms from accounts where accounts.id = webhooks.account_id)`.as(
          'suspended_at_ms',
        ),
        sql<bigint>`${newest} - position`.as('events_behind'),
        sql<
          bigint | null
        >`(select ${nowMs} - at_ms from events where events.id > webhooks.position order by events.id limit 1)`.as(
          'behind_ms',
        ),
      ])
      .where('id', '<=', p.newestId)
      .$if(accountId !== null, (narrowed) => narrowed.where('account_id', '=', p.accountId as bigint))
      .$if(publicId !== null, (narrowed) => narrowed.where('public_id', '=', p.publicId as string))
      .$if(isFailing, (narrowed) => narrowed.where(sql<boolean>`failures > 0 and status || '' = 'enabled'`))
      .$if(hasStatus && accountId === null, (narrowed) => narrowed.where('status', '=', p.status as string))
      // The expression keeps the planner from using the index on the status. The index on the account is better,
      // because an account has at most `webhooksMax` webhooks.
      .$if(hasStatus && accountId !== null, (narrowed) =>
        narrowed.where(sql<boolean>`status || '' = ${p.status}`),
      )
      .orderBy('id', 'desc')
      .limit(p.count),
  );
}

/** Makes transactions that add webhooks to an account run one after the other. */
export const lockAccount = statement<{ accountId: bigint }>()((query, p, { lockRows }) =>
  query.selectFrom('accounts').select('id').where('id', '=', p.accountId).modifyEnd(lockRows),
);

export const countWebhooks = statement<{ accountId: bigint }>()((query, p) =>
  query
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('account_id', '=', p.accountId),
);

export const countDisabled = statement<Record<never, never>>()((query) =>
  query
    .selectFrom('webhooks')
    .select(['disabled_because', ({ fn }) => fn.countAll<bigint>().as('count')])
    .where('status', '=', sql.lit('disabled'))
    .groupBy('disabled_because'),
);

export type NewWebhookRow = WebhookName & {
  keyId: string;
  url: string;
  types: string;
  seesPets: bigint;
  seesOrders: string;
  position: bigint;
};

/** Adds an enabled webhook. */
export const insertWebhook = statement<NewWebhookRow>()((query, p, { nowMs }) =>
  query
    .insertInto('webhooks')
    .values({
      public_id: p.publicId,
      account_id: p.accountId,
      key_id: p.keyId,
      url: p.url,
      types: p.types,
      sees_pets: p.seesPets,
      sees_orders: p.seesOrders,
      status: sql.lit('enabled'),
      position: p.position,
      revision: sql<bigint>`0`,
      failures: sql<bigint>`0`,
      next_attempt_at_ms: sql<bigint>`0`,
      created_at_ms: sql<bigint>`${nowMs}`,
    })
    .returning(webhookColumns),
);

/** The new state of a webhook. If `begins` is 1, the retries of the webhook restart. */
export type ChangedRow = {
  id: bigint;
  url: string;
  types: string;
  status: string;
  position: bigint;
  begins: bigint;
  /** The reason to store if the webhook becomes disabled. */
  because: string;
};

export const updateWebhook = statement<ChangedRow>()((query, p) => {
  const unlessBegun = (column: string, begun: string) =>
    sql<bigint>`case cast(${p.begins} as bigint) when 1 then ${sql.raw(begun)} else ${sql.ref(column)} end`;
  return query
    .updateTable('webhooks')
    .set({
      url: p.url,
      types: p.types,
      status: p.status,
      disabled_because: sql<string>`case when cast(${p.status} as text) = 'disabled'
        then coalesce(disabled_because, cast(${p.because} as text)) end`,
      position: p.position,
      revision: sql<bigint>`revision + cast(${p.begins} as bigint)`,
      failures: unlessBegun('failures', '0'),
      failing_since_ms: unlessBegun('failing_since_ms', 'null'),
      next_attempt_at_ms: unlessBegun('next_attempt_at_ms', '0'),
    })
    .where('id', '=', p.id)
    .returning(webhookColumns);
});

/** Selects a requested message at a position, if it waits, and how many messages of the webhook wait. */
export const selectRequests = statement<{ id: bigint; position: bigint }>()((query, p) =>
  query
    .selectFrom('webhook_requests')
    .select([
      sql<string | null>`max(case when position = cast(${p.position} as bigint) then message_id end)`.as(
        'message_id',
      ),
      ({ fn }) => fn.countAll<bigint>().as('count'),
    ])
    .where('webhook_id', '=', p.id),
);

/** Requests a message beside the feed. */
export const insertRequest = statement<{ id: bigint; messageId: string; position: bigint }>()((query, p) =>
  query
    .insertInto('webhook_requests')
    .values({ webhook_id: p.id, message_id: p.messageId, position: p.position }),
);

/** Selects what a reader needs to see an event. */
export const selectEvent = statement<{ position: bigint }>()((query, p) =>
  query.selectFrom('events').select(['type', 'account_id']).where('id', '=', p.position),
);

/** Deletes a webhook and all that belongs to it. Returns no row if the webhook does not exist. */
export const deleteWebhook = statement<WebhookName>()((query, p) =>
  query
    .deleteFrom('webhooks')
    .where('public_id', '=', p.publicId)
    .where('account_id', '=', p.accountId)
    .returning('id'),
);

/** Adds a secret, which becomes the current secret of the webhook. */
export const insertSecret = statement<{ webhookId: bigint; secret: Uint8Array }>()((query, p) =>
  query.insertInto('webhook_secrets').values({ webhook_id: p.webhookId, secret: p.secret }).returning('id'),
);

/** Makes the current secret expire after `overlapMs`. The secret signs messages until it expires. */
export const endSecret = statement<{ webhookId: bigint; overlapMs: bigint }>()((query, p, { nowMs }) =>
  query
    .updateTable('webhook_secrets')
    .set({ ends_at_ms: sql<bigint>`${nowMs} + cast(${p.overlapMs} as bigint)` })
    .where('webhook_id', '=', p.webhookId)
    .where('ends_at_ms', 'is', null),
);

/** Deletes the expired secrets of a webhook. Of the other secrets, keeps the `count` newest. */
export const deleteOldSecrets = statement<{ webhookId: bigint; count: bigint }>()((query, p, { nowMs }) =>
  query
    .deleteFrom('webhook_secrets')
    .where('webhook_id', '=', p.webhookId)
    .where(
      sql<boolean>`(ends_at_ms <= ${nowMs} or id not in (select kept.id from webhook_secrets as kept
        where kept.webhook_id = ${p.webhookId} order by kept.id desc limit ${p.count}))`,
    ),
);

/** Selects the `count` valid secrets of all webhooks with ids above `afterId`. */
export const selectSecrets = statement<{ afterId: bigint; count: bigint }>()((query, p, { nowMs }) =>
  query
    .selectFrom('webhook_secrets')
    .innerJoin('webhooks', 'webhooks.id', 'webhook_secrets.webhook_id')
    .select(['webhook_secrets.id', 'public_id', 'status', 'secret'])
    .where('webhook_secrets.id', '>', p.afterId)
    .where(sql<boolean>`(ends_at_ms is null or ends_at_ms > ${nowMs})`)
    .orderBy('webhook_secrets.id')
    .limit(p.count),
);

export const updateSecret = statement<{ id: bigint; secret: Uint8Array }>()((query, p) =>
  query.updateTable('webhook_secrets').set({ secret: p.secret }).where('id', '=', p.id),
);
