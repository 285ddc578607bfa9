import { sql } from 'kysely';
import type { Dialect } from '../../database.ts';
import { type ColumnTypes, columnTypes } from '../column-types.ts';

/** What the store needs to sell: categories, orders, events, inventory and the first answers of idempotency keys. */
export function createTables(engine: Dialect['engine']) {
  const types = columnTypes[engine];
  return [
    sql`create table categories (id ${types.integer} primary key, name text not null) ${types.end}`,
    ...createOrders(types),
    ...createEvents(types),
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
    // An animal has at most one order that owns it.
    sql`create unique index orders_owning on orders (pet_id) where status in ('reserved', 'completed')`,
    // An order is open, and has no end yet, while it is reserved. These know it by that, so that nothing that asks for a
    // status takes them for an index of statuses.
    sql`create index orders_by_expiry on orders (expires_at_ms, id) where closed_at_ms is null`,
    sql`create index orders_open on orders (account_id, expires_at_ms) where closed_at_ms is null`,
    sql`create index orders_by_account on orders (account_id, id)`,
    sql`create index orders_by_account_and_status on orders (account_id, status, id)`,
    sql`create index orders_by_status on orders (status, id)`,
    sql`create index orders_by_pet on orders (pet_id, id)`,
    sql`create index orders_by_reference on orders (reference, id) where reference is not null`,
  ];
}

/** PostgreSQL assigns ids before the commit: a change waits in the outbox until its event takes its place. */
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
    // Along these, a reader of orders alone passes over no events of animals.
    sql`create index events_of_orders on events (id) where account_id is not null`,
    sql`create index events_of_account on events (account_id, id) where account_id is not null`,
    // One row: every event up to this position is gone.
    sql`create table event_horizon (deleted_to ${types.integer} not null) ${types.end}`,
    sql`insert into event_horizon (deleted_to) values (0)`,
  ];
}

/** PostgreSQL has no row that every change of an animal would wait for: changes are appended, and a job adds them up. */
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
 * Along these, a page of a category and a status costs the same at any depth; a page of a category alone is made of three.
 * PostgreSQL has an index for each status, as it has for the pages of statuses, and in words of its own, so that it takes
 * neither for the other: an index by id it would walk past the animals of all other categories.
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

/** Counts the animals that are there. */
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
