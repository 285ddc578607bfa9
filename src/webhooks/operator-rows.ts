import { sql } from 'kysely';
import { newest } from '../events/event-rows.ts';
import { type Dialect, type Statement, statement } from '../storage/database.ts';
import { webhookColumns } from './webhook-rows.ts';

/** The filters of a list of webhooks; null means no filter. A type alias, so that it is assignable to a record. */
export type WebhookFilter = {
  readonly accountId: bigint | null;
  readonly status: string | null;
};

/** A webhook in a list. */
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
  /** How many events of the feed come after its position, of all types. */
  readonly events_behind: bigint;
  /** The age of the first of them, by the clock of the store; null if there is none. */
  readonly behind_ms: bigint | null;
}

type PageParameters = WebhookFilter & { newestId: bigint; count: bigint };
type PageStatement = Statement<PageParameters, ListedWebhookRow>;

const pages = new Map<string, PageStatement>();

/**
 * The statement of a page, newest first, up to an id. Each set of filters has its own, so that a page reads only its
 * own rows.
 */
export function selectWebhookPage(filter: WebhookFilter): PageStatement {
  const name = `${filter.accountId !== null}, ${filter.status !== null}`;
  const page = pages.get(name) ?? buildPage(filter);
  pages.set(name, page);
  return page;
}

/** The age of the first event after the position of a webhook; null if there is none. */
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
        // With a join, the planner may start with the accounts.
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
      // The expression prevents the index on the status: an account has few webhooks.
      .$if(status !== null && accountId !== null, (narrowed) =>
        narrowed.where(sql<boolean>`status || '' = ${p.status}`),
      )
      .orderBy('id', 'desc')
      .limit(p.count),
  );
}

/** How many webhooks are disabled, in one row. */
export const countDisabled = statement<Record<never, never>>()((query) =>
  query
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('status', '=', sql.lit('disabled')),
);

/**
 * Reads the next `count` active webhooks after a row. Returns the one with the lowest position, and the last row. No row
 * if there are no more.
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

/** The age of the first event after a position, in one row; null if there is none. */
export const selectLag = statement<{ position: bigint }>()((query, p, { nowMs }) =>
  query.selectNoFrom(
    sql<
      bigint | null
    >`(select ${nowMs} - at_ms from events where events.id > ${p.position} order by events.id limit 1)`.as(
      'behind_ms',
    ),
  ),
);

/** The webhooks that a key created, oldest first. */
export const selectWebhooksOfKey = statement<{ keyId: string }>()((query, p) =>
  query
    .selectFrom('webhooks')
    .select(['public_id', 'url', 'status'])
    .where('key_id', '=', p.keyId)
    .orderBy('id'),
);

/** A webhook of any account, locked until the transaction ends. */
export const lockAnyWebhook = statement<{ publicId: string }>()((query, p, { engine }) => {
  const found = query.selectFrom('webhooks').select(webhookColumns).where('public_id', '=', p.publicId);
  return engine === 'postgres' ? found.forUpdate() : found;
});

/** The enabled webhooks that a key created, locked until the transaction ends. */
export const lockWebhooksOfKey = statement<{ keyId: string }>()((query, p, { engine }) => {
  const found = query
    .selectFrom('webhooks')
    .select(webhookColumns)
    .where('key_id', '=', p.keyId)
    .where('status', '=', sql.lit('enabled'))
    .orderBy('id');
  return engine === 'postgres' ? found.forUpdate() : found;
});

/** The ids of all webhooks that are enabled. */
export const selectEnabled = statement<Record<never, never>>()((query) =>
  query.selectFrom('webhooks').select('public_id').where('status', '=', sql.lit('enabled')),
);

/** The stored secrets of all webhooks. */
export const selectSecrets = statement<Record<never, never>>()((query) =>
  query
    .selectFrom('webhook_secrets')
    .innerJoin('webhooks', 'webhooks.id', 'webhook_secrets.webhook_id')
    .select(['webhook_secrets.id', 'public_id', 'secret'])
    .orderBy('webhook_secrets.id'),
);

/** Replaces the stored form of a secret. */
export const updateSecret = statement<{ id: bigint; secret: Uint8Array }>()((query, p) =>
  query.updateTable('webhook_secrets').set({ secret: p.secret }).where('id', '=', p.id),
);
