import { type RawBuilder, sql } from 'kysely';
import { parseExactJson } from '../exact-json.ts';
import { orderStatuses } from '../orders/order.ts';
import { byFilters, type Database, type Statement, type Value } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';

/** Maximum number of rows that an export has in memory. */
const pageRows = 500;

type Row = Readonly<Record<string, Value>>;
type Page = { accountId: bigint; after: Value; count: bigint };

/** The rows of an account in one table, as an export has them. */
export interface ExportPart {
  readonly table: keyof Tables;
  readonly columns: readonly string[];
  /** The other columns of the table, each with why an export leaves it out. */
  readonly leftOut: Readonly<Record<string, string>>;
  /** The unique column by which the rows are read. */
  readonly key: string;
  readonly select: Statement<Page, Row>;
}

interface Reading {
  readonly leftOut?: Readonly<Record<string, string>>;
  /** Default: `id`. */
  readonly key?: string;
  /** The column with the id of the account. Null: only `condition` says which rows are those of the account. */
  readonly owner?: string | null;
  readonly condition?: (accountId: RawBuilder<bigint>) => RawBuilder<unknown>;
  /** What stands in place of a column. */
  readonly values?: Readonly<Record<string, RawBuilder<unknown>>>;
}

function declarePart<T extends keyof Tables>(
  table: T,
  columns: readonly (keyof Tables[T] & string)[],
  { leftOut = {}, key = 'id', owner = 'account_id', condition, values = {} }: Reading = {},
): ExportPart {
  const select = byFilters(['after'], (query, p: Page, set) => {
    const accountId = sql<bigint>`${p.accountId}`;
    const conditions = [
      owner !== null && sql`${sql.ref(owner)} = ${accountId}`,
      condition?.(accountId),
      set.after && sql`${sql.ref(key)} > ${p.after}`,
    ].filter((each) => each !== undefined && each !== false);
    const shown = columns.map((name) => (values[name] ?? sql.ref(name)).as(name));
    return query
      .selectFrom(table as 'accounts')
      .select([...shown, sql.ref(key).as('export_key')])
      .where(sql<boolean>`${sql.join(conditions, sql` and `)}`)
      .orderBy(sql.ref(key))
      .limit(p.count);
  });
  return { table, columns, leftOut, key, select: select as unknown as Statement<Page, Row> };
}

const ofWebhooks = (accountId: RawBuilder<bigint>) =>
  sql`webhook_id in (select id from webhooks where account_id = ${accountId})`;

const ofKeys = (accountId: RawBuilder<bigint>) =>
  sql`key_id in (select id from api_keys where account_id = ${accountId})`;

const isTheAccount = { account_id: 'it is that of the account' };
const eventColumns = ['id', 'at_ms', 'type', 'pet_id', 'data', 'previous'] as const;
const countColumns = ['requests', 'refusals', 'errors'] as const;

const orderColumns = [
  'id',
  'pet_id',
  'status',
  'reference',
  'created_at_ms',
  'expires_at_ms',
  'closed_at_ms',
] as const;

/** What the store has of an account, without secrets and hashes. `unexported` has the other tables that name accounts. */
export const exportParts: readonly ExportPart[] = [
  declarePart(
    'accounts',
    [
      'id',
      'name',
      'plan',
      'per_minute',
      'per_day',
      'open_holds',
      'own_per_minute',
      'own_per_day',
      'own_until_ms',
      'created_at_ms',
      'suspended_at_ms',
    ],
    { owner: 'id', leftOut: { deleted_at_ms: 'a deleted account has no export' } },
  ),
  declarePart(
    'api_keys',
    [
      'id',
      'visible_start',
      'name',
      'scopes',
      'created_at_ms',
      'expires_at_ms',
      'revoked_at_ms',
      'last_used_at_ms',
      'replaced_by',
      'end_before_rotation_ms',
    ],
    { leftOut: { ...isTheAccount, secret_hash: 'it is the hash of a secret' } },
  ),
  declarePart('key_bans', ['key_id', 'banned_until_ms', 'last_ban_at_ms', 'last_ban_ms'], {
    key: 'key_id',
    owner: null,
    condition: ofKeys,
    leftOut: { refused_at_ms: 'it serves the next ban alone', forget_at_ms: 'it serves the next ban alone' },
  }),
  declarePart('ban_lifts', ['id', 'key_id', 'at_ms'], { leftOut: isTheAccount }),
  declarePart('limit_resets', ['id', 'at_ms'], { leftOut: isTheAccount }),
  declarePart('usage_windows', ['minute_used', 'minute_ends_at_ms', 'day_used', 'day_ends_at_ms'], {
    key: 'subject',
    owner: null,
    condition: (accountId) => sql`subject = 'account:' || cast(${accountId} as bigint)`,
    leftOut: { subject: 'it is the id of the account' },
  }),
  declarePart(
    'webhooks',
    [
      'id',
      'public_id',
      'key_id',
      'url',
      'types',
      'sees_pets',
      'sees_orders',
      'status',
      'disabled_because',
      'position',
      'failures',
      'failing_since_ms',
      'last_attempt_at_ms',
      'next_attempt_at_ms',
      'last_result',
      'created_at_ms',
    ],
    { leftOut: { ...isTheAccount, revision: 'it serves the delivery alone' } },
  ),
  declarePart(
    'webhook_attempts',
    [
      'id',
      'webhook_id',
      'message_id',
      'at_ms',
      'result',
      'duration_ms',
      'attempt',
      'is_manual',
      'answer_start',
    ],
    {
      owner: null,
      condition: ofWebhooks,
    },
  ),
  declarePart('webhook_requests', ['id', 'webhook_id', 'message_id', 'position'], {
    owner: null,
    condition: ofWebhooks,
  }),
  // One for each status, as the index of the orders of an account begins.
  ...orderStatuses.map((status) =>
    declarePart('orders', orderColumns, {
      condition: () => sql`status = ${sql.lit(status)}`,
      leftOut: isTheAccount,
    }),
  ),
  declarePart('event_outbox', eventColumns, { leftOut: isTheAccount }),
  declarePart('events', eventColumns, { leftOut: isTheAccount }),
  declarePart(
    'requests',
    [
      'id',
      'at_ms',
      'last_at_ms',
      'key_id',
      'address',
      'operation',
      'subject',
      'status',
      'code',
      'message',
      'request_id',
      'duration_ms',
      'times',
    ],
    { leftOut: { ...isTheAccount, merge_key: 'it is made of the other columns' } },
  ),
  declarePart('usage_hours', ['hour_at_ms', ...countColumns], { key: 'hour_at_ms', leftOut: isTheAccount }),
  declarePart('usage_days', ['day_at_ms', ...countColumns], { key: 'day_at_ms', leftOut: isTheAccount }),
  declarePart('first_answers', ['operation', 'status', 'location', 'body', 'created_at_ms'], {
    key: 'key_hash',
    leftOut: { ...isTheAccount, key_hash: 'it is a hash', body_hash: 'it is a hash' },
  }),
  declarePart('audit', ['id', 'at_ms', 'actor_kind', 'actor', 'action', 'subject', 'before', 'after'], {
    // The names of operators are those of other persons.
    values: { actor: sql`case when actor_kind = 'key' then actor end` },
    leftOut: isTheAccount,
  }),
];

/** The other tables with the id of an account, each with why an export leaves it out. */
export const unexported: Readonly<Record<string, string>> = {
  erasures: 'it has only deleted accounts, which have no export',
};

/** The columns that are JSON. */
const jsonColumns = ['data', 'previous', 'before', 'after', 'body'];

/**
 * Yields the rows of an account, page by page and table by table, each with the name of its `table`. Reads aside, so it holds
 * up no other call. It is no snapshot: a row that is written meanwhile may be absent.
 */
export async function* exportAccount(database: Database, accountId: bigint) {
  for (const { table, columns, select } of exportParts) {
    for (let after: Value = null; ; ) {
      const rows: readonly Row[] = await database.readAside(select, {
        accountId,
        after,
        count: BigInt(pageRows),
      });
      yield rows.map((row) => ({ table, ...toExported(row, columns) }));
      if (rows.length < pageRows) break;
      after = rows.at(-1)?.['export_key'] ?? null;
    }
  }
}

/** Names the columns as the JSON of commands does: `created_at_ms` becomes `createdAtMs`. */
function toExported(row: Row, columns: readonly string[]) {
  const entries = columns.map((column) => {
    const value = row[column] ?? null;
    const name = column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [name, toJson(column, value)];
  });
  return Object.fromEntries(entries) as Readonly<Record<string, unknown>>;
}

/** The only bytes are those of a receiver's answer. */
function toJson(column: string, value: Value): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  return typeof value === 'string' && jsonColumns.includes(column) ? parseExactJson(value) : value;
}
