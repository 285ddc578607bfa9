import { sql } from 'kysely';
import { newest } from '../events/event-rows.ts';
import { type Dialect, type Statement, statement } from '../storage/database.ts';
import { webhookColumns } from './webhook-rows.ts';

/**
 * The filters of a list of webhooks. Null means no filter. This is a type alias, because TypeScript does not assign
 * interfaces to `Parameters`.
 */
export type WebhookFilter = {
  readonly accountId: bigint | null;
  readonly status: string | null;
};

export interface ListedWebhookRow {
  readonly id: bigint;
  readonly public_id: string;
  readonly account: string;
  readonly suspended_at_ms: bigint | null;
  readonly key_id: string;
  readonly url: string;
  readonly types: string;
  readonly status: string;
  readonly position: bigint;
  readonly last_attempt_at_ms: bigint | null;
  readonly last_result: string | null;
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
  const name = `${filter.accountId !== null}, ${filter.status !== null}`;
  const page = pages.get(name) ?? buildPage(filter);
  pages.set(name, page);
  return page;
}

/** SQL expression for `ListedWebhookRow.behind_ms`. */
const behindMs = ({ nowMs }: Dialect) =>
  sql<
    bigint | null
  >`(select ${nowMs} - at_ms from events where events.id > webhooks.position order by events.id limit 1)`;

function buildPage({ accountId, status }: WebhookFilter): PageStatement {
  return statement<PageParameters>()((query, p, dialect) =>
    query
      .selectFrom('webhooks')
      .select([
        'id',
        'public_id',
        'key_id',
        'url',
        'types',
        'status',
        'position',
        'last_attempt_at_ms',
        'last_result',
        // Uses subqueries, because the planner may read all accounts first in a join.
        sql<string>`(select name from accounts where accounts.id = webhooks.account_id)`.as('account'),
        sql<bigint | null>`(select suspended_at_ms from accounts where accounts.id = webhooks.account_id)`.as(
          'suspended_at_ms',
        ),
        sql<bigint>`(select ${newest(dialect)} from event_horizon) - position`.as('events_behind'),
        behindMs(dialect).as('behind_ms'),
      ])
      .where('id', '<=', p.newestId)
      .$if(accountId !== null, (narrowed) => narrowed.where('account_id', '=', p.accountId as bigint))
      .$if(status !== null && accountId === null, (narrowed) =>
        narrowed.where('status', '=', p.status as string),
      )
      // The expression keeps the planner from using the index on the status. The index on the account is better,
      // because an account has at most `webhooksMax` webhooks.
      .$if(status !== null && accountId !== null, (narrowed) =>
        narrowed.where(sql<boolean>`status || '' = ${p.status}`),
      )
      .orderBy('id', 'desc')
      .limit(p.count),
  );
}

export const countDisabled = statement<Record<never, never>>()((query) =>
  query
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('status', '=', sql.lit('disabled')),
);

/**
 * Reads the next `count` active webhooks with ids above `afterId` and returns the one with the lowest position.
 * `last_id` is the highest id that was read. Returns no row if there are no more webhooks. A webhook is active if it is
 * enabled and its account is not suspended.
 */
export const selectFarthestOf = statement<{ afterId: bigint; count: bigint }>()((query, p) =>
  query
    .with('page', (creator) =>
      creator
        .selectFrom('webhooks')
        .select(['id', 'public_id', 'position'])
        .where('status', '=', sql.lit('enabled'))
        .where('id', '>', p.afterId)
        .where(
          sql<boolean>`exists (select 1 from accounts where accounts.id = webhooks.account_id and suspended_at_ms is null)`,
        )
        .orderBy('id')
        .limit(p.count),
    )
    .selectFrom('page')
    .select(['public_id', 'position', sql<bigint>`(select max(id) from page)`.as('last_id')])
    .orderBy('position')
    .orderBy('id')
    .limit(sql.lit(1)),
);

/** Selects the age of the first event after a position in milliseconds. Null if there is none. */
export const selectLag = statement<{ position: bigint }>()((query, p, { nowMs }) =>
  query.selectNoFrom(
    sql<
      bigint | null
    >`(select ${nowMs} - at_ms from events where events.id > ${p.position} order by events.id limit 1)`.as(
      'behind_ms',
    ),
  ),
);

/** Selects the webhooks that a key created, oldest first. */
export const selectWebhooksOfKey = statement<{ keyId: string }>()((query, p) =>
  query
    .selectFrom('webhooks')
    .select(['public_id', 'url', 'status'])
    .where('key_id', '=', p.keyId)
    .orderBy('id'),
);

/** Selects a webhook of any account. On PostgreSQL, locks the row until the transaction ends. */
export const lockAnyWebhook = statement<{ publicId: string }>()((query, p, { engine }) => {
  const found = query.selectFrom('webhooks').select(webhookColumns).where('public_id', '=', p.publicId);
  return engine === 'postgres' ? found.forUpdate() : found;
});

/** Selects the enabled webhooks that a key created. On PostgreSQL, locks the rows until the transaction ends. */
export const lockWebhooksOfKey = statement<{ keyId: string }>()((query, p, { engine }) => {
  const found = query
    .selectFrom('webhooks')
    .select(webhookColumns)
    .where('key_id', '=', p.keyId)
    .where('status', '=', sql.lit('enabled'))
    .orderBy('id');
  return engine === 'postgres' ? found.forUpdate() : found;
});

export const selectEnabled = statement<Record<never, never>>()((query) =>
  query.selectFrom('webhooks').select('public_id').where('status', '=', sql.lit('enabled')),
);

export const selectSecrets = statement<Record<never, never>>()((query) =>
  query
    .selectFrom('webhook_secrets')
    .innerJoin('webhooks', 'webhooks.id', 'webhook_secrets.webhook_id')
    .select(['webhook_secrets.id', 'public_id', 'secret'])
    .orderBy('webhook_secrets.id'),
);

export const updateSecret = statement<{ id: bigint; secret: Uint8Array }>()((query, p) =>
  query.updateTable('webhook_secrets').set({ secret: p.secret }).where('id', '=', p.id),
);
