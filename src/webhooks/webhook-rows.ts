import { sql } from 'kysely';
import { newest } from '../events/event-rows.ts';
import { insertion, statement } from '../storage/database.ts';

/** The columns of a `WebhookRow`. */
export const webhookColumns = [
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
] as const;

/** Identifies a webhook of an account. */
export type WebhookName = { publicId: string; accountId: bigint };

export const selectWebhook = statement<WebhookName>()((query, p) =>
  query
    .selectFrom('webhooks')
    .select(webhookColumns)
    .where('public_id', '=', p.publicId)
    .where('account_id', '=', p.accountId),
);

/** Selects a webhook. On PostgreSQL, locks the row until the transaction ends. */
export const lockWebhook = statement<WebhookName>()((query, p, { engine }) => {
  const found = query
    .selectFrom('webhooks')
    .select(webhookColumns)
    .where('public_id', '=', p.publicId)
    .where('account_id', '=', p.accountId);
  return engine === 'postgres' ? found.forUpdate() : found;
});

/** Selects the `count` newest webhooks of an account with ids up to `newestId`, newest first. */
export const selectWebhooks = statement<{ accountId: bigint; newestId: bigint; count: bigint }>()(
  (query, p) =>
    query
      .selectFrom('webhooks')
      .select(webhookColumns)
      .where('account_id', '=', p.accountId)
      .where('id', '<=', p.newestId)
      .orderBy('id', 'desc')
      .limit(p.count),
);

/**
 * Makes transactions that add webhooks to an account run one after the other. SQLite needs no lock, because all its
 * transactions run one after the other.
 */
export const lockAccount = statement<{ accountId: bigint }>()((query, p, { engine }) => {
  const account = query.selectFrom('accounts').select('id').where('id', '=', p.accountId);
  return engine === 'postgres' ? account.forNoKeyUpdate() : account;
});

export const countWebhooks = statement<{ accountId: bigint }>()((query, p) =>
  query
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('account_id', '=', p.accountId),
);

/** Selects the bounds of the feed (`Ends` in event-rows.ts). */
export const selectEnds = statement<Record<never, never>>()((query, _, dialect) =>
  query.selectFrom('event_horizon').select(['deleted_to', newest(dialect).$castTo<bigint>().as('newest')]),
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

/** Adds a secret, which becomes the current secret of the webhook. */
export const insertSecret = insertion<{ webhookId: bigint; secret: Uint8Array }>()((query, rows) =>
  query
    .insertInto('webhook_secrets')
    .values(rows.map((p) => ({ webhook_id: p.webhookId, secret: p.secret })))
    .returning('id'),
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
    .where(({ or, eb, selectFrom }) =>
      or([
        eb('ends_at_ms', '<=', sql<bigint>`${nowMs}`),
        eb(
          'id',
          'not in',
          selectFrom('webhook_secrets as kept')
            .select('kept.id')
            .where('kept.webhook_id', '=', p.webhookId)
            .orderBy('kept.id', 'desc')
            .limit(p.count),
        ),
      ]),
    ),
);

/** The new state of a webhook. If `begins` is 1, the retries of the webhook restart. */
export type ChangedRow = {
  id: bigint;
  url: string;
  types: string;
  status: string;
  position: bigint;
  begins: bigint;
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
      position: p.position,
      revision: sql<bigint>`revision + cast(${p.begins} as bigint)`,
      failures: unlessBegun('failures', '0'),
      failing_since_ms: unlessBegun('failing_since_ms', 'null'),
      next_attempt_at_ms: unlessBegun('next_attempt_at_ms', '0'),
    })
    .where('id', '=', p.id)
    .returning(webhookColumns);
});

/** Requests a ping and returns its id. If a ping is already pending, returns the id of the pending ping. */
export const requestPing = statement<WebhookName & { pingId: string }>()((query, p) =>
  query
    .updateTable('webhooks')
    .set({ ping_id: sql<string>`coalesce(ping_id, cast(${p.pingId} as text))` })
    .where('public_id', '=', p.publicId)
    .where('account_id', '=', p.accountId)
    .returning('ping_id'),
);

/** Deletes a webhook and its secrets. Returns no row if the webhook does not exist. */
export const deleteWebhook = statement<WebhookName>()((query, p) =>
  query
    .deleteFrom('webhooks')
    .where('public_id', '=', p.publicId)
    .where('account_id', '=', p.accountId)
    .returning('id'),
);
