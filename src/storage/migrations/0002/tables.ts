import { sql } from 'kysely';
import type { Dialect } from '../../database.ts';
import { type ColumnTypes, columnTypes } from '../column-types.ts';
import { indexOrders } from './order-indexes.ts';

/** Tables for selling: categories, orders, events, inventory, and the stored responses of idempotency keys. */
export function createTables(engine: Dialect['engine']) {
  const types = columnTypes[engine];
  return [
    sql`create table categories (id ${types.integer} primary key, name text not null) ${types.end}`,
    ...createOrders(types),
    ...createEvents(types),
    ...(engine === 'postgres' ? noteTransactions() : []),
    ...createInventory(types),
    ...createFirstAnswers(types),
  ];
}

function createOrders(types: ColumnTypes) {
  return [
    sql`alter table accounts add column open_holds ${types.integer} check (open_holds >= 1)`,
    sql`create table orders (
      id ${types.id},
      account_id ${types.integer} not null references accounts (id),
      pet_id ${types.integer} not null,
      status text not null check (status in ('reserved', 'completed', 'cancelled', 'expired', 'returned')),
      reference text,
      created_at_ms ${types.integer} not null,
      expires_at_ms ${types.integer} not null,
      closed_at_ms ${types.integer},
      check ((status = 'reserved') = (closed_at_ms is null))
    ) ${types.end}`,
    ...indexOrders(),
  ];
}

/**
 * PostgreSQL assigns ids before the commit, so their order can differ from the order of commits. An event therefore
 * waits in the outbox until it gets its position.
 */
function createEvents(types: ColumnTypes) {
  const columns = sql`
    id ${types.id},
    at_ms ${types.integer} not null default ${types.nowMs},
    type text not null,
    account_id ${types.integer},
    pet_id ${types.integer},
    data text not null,
    previous text`;
  return [
    sql`create table event_outbox (${columns}) ${types.end}`,
    sql`create table events (${columns}) ${types.end}`,
    sql`create index events_of_edits on events (id) where pet_id is not null and type <> 'pet.added'`,
    // With these indexes, a reader of orders does not read the events of animals.
    sql`create index events_of_orders on events (id) where account_id is not null`,
    sql`create index events_of_account on events (account_id, id) where account_id is not null`,
    // The table has one row: the position up to which events are deleted.
    sql`create table event_horizon (deleted_to ${types.integer} not null) ${types.end}`,
    sql`insert into event_horizon (deleted_to) values (0)`,
  ];
}

/**
 * Stores the transaction id of each event. With this id, an instance finds all events committed since its last read,
 * even if they have no position yet.
 */
function noteTransactions() {
  return [
    sql`alter table event_outbox add column tx xid8 not null default pg_current_xact_id()`,
    sql`create index event_outbox_by_transaction on event_outbox (tx)`,
    sql`alter table events add column tx xid8`,
  ];
}

/**
 * On PostgreSQL, all changes would wait for each other to update a single row of totals. So each change is appended
 * to `inventory_changes`, and a job adds the changes to the totals.
 */
function createInventory(types: ColumnTypes) {
  const counts = sql`
    available ${types.integer} not null,
    pending ${types.integer} not null,
    sold ${types.integer} not null`;
  return [
    sql`create table inventory_totals (${counts}) ${types.end}`,
    sql`create table inventory_by_category (
      category_id ${types.integer} primary key, ${counts}
    ) ${types.end}`,
    sql`create table inventory_changes (
      id ${types.id}, category_id ${types.integer} not null, ${counts}
    ) ${types.end}`,
    sql`create index inventory_changes_by_category on inventory_changes (category_id)`,
  ];
}

function createFirstAnswers(types: ColumnTypes) {
  return [
    sql`create table first_answers (
      account_id ${types.integer} not null references accounts (id),
      key_hash ${types.bytes} not null,
      operation text not null,
      body_hash ${types.bytes} not null,
      status ${types.integer} not null,
      location text not null,
      body text not null,
      created_at_ms ${types.integer} not null,
      primary key (account_id, key_hash)
    ) ${types.end}`,
    sql`create index first_answers_by_age on first_answers (created_at_ms)`,
  ];
}

/**
 * With these indexes, a page of a category and a status costs the same at any depth. A page of a category without a
 * status is merged from three pages.
 *
 * PostgreSQL has one index for each status. The query and the conditions of these indexes use `>=` and `<=` for the
 * status. The conditions of the indexes `pets_…_by_id` (first migration) use `=`, so they do not match the query. So
 * PostgreSQL never reads all animals of a status to find those of one category.
 */
export function indexCategories(engine: Dialect['engine']) {
  if (engine === 'sqlite')
    return [sql`create index pets_by_category_and_status on pets (category_id, status, id)`];
  return ['available', 'pending', 'sold'].map((status) => {
    const own = sql.lit(status);
    return sql`create index ${sql.ref(`pets_${status}_by_category`)} on pets (category_id, id)
      where status >= ${own} and status <= ${own}`;
  });
}

/** Fills the inventory with the existing animals. */
export function countInventory() {
  const counts = sql.raw(
    ['available', 'pending', 'sold']
      .map((status) => `coalesce(sum(case when status = '${status}' then 1 else 0 end), 0)`)
      .join(', '),
  );
  return [
    sql`insert into inventory_totals select ${counts} from pets`,
    sql`insert into inventory_by_category select category_id, ${counts} from pets group by category_id`,
  ];
}
