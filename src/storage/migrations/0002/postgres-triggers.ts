import { sql } from 'kysely';

/** SQL that counts the rows of each status. `sign` precedes each number. */
const counts = (sign: '' | '-') =>
  ['available', 'pending', 'sold']
    .map((status) => `${sign}count(*) filter (where status = '${status}')`)
    .join(', ');

const countIn = `insert into inventory_changes (category_id, available, pending, sold)
  select category_id, ${counts('')} from became group by category_id;`;
const countOut = `insert into inventory_changes (category_id, available, pending, sold)
  select category_id, ${counts('-')} from was group by category_id;`;

/**
 * Creates a trigger function that runs once per statement. `was` has the rows before the statement, and `became` the
 * rows after the statement.
 */
const createFunction = (name: string, body: string) =>
  sql.raw(
    `create function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`,
  );

const createTrigger = (table: string, event: 'insert' | 'update' | 'delete', run: string) => {
  const rows = {
    insert: 'new table as became',
    update: 'old table as was new table as became',
    delete: 'old table as was',
  };
  return sql.raw(`create trigger ${run} after ${event} on ${table}
    referencing ${rows[event]} for each statement execute function ${run}()`);
};

const triggers = [
  {
    table: 'pets',
    event: 'insert',
    name: 'append_pets_added',
    body: `insert into event_outbox (type, pet_id, data)
      select 'pet.added', id, row_to_json(became)::text from became order by id;
      ${countIn}`,
  },
  {
    table: 'pets',
    event: 'update',
    name: 'append_pets_updated',
    body: `insert into event_outbox (type, pet_id, data, previous)
      select 'pet.updated', id, row_to_json(became)::text, row_to_json(was)::text from became join was using (id)
      where (became.name, became.category_id, became.status) is distinct from (was.name, was.category_id, was.status)
      order by id;
      insert into inventory_changes (category_id, available, pending, sold)
      select category_id, sum(available), sum(pending), sum(sold) from (
        select category_id, ${counts('')} from became group by category_id
        union all select category_id, ${counts('-')} from was group by category_id
      ) as changes (category_id, available, pending, sold)
      group by category_id having sum(available) <> 0 or sum(pending) <> 0 or sum(sold) <> 0;`,
  },
  {
    table: 'pets',
    event: 'delete',
    name: 'append_pets_deleted',
    body: `insert into event_outbox (type, pet_id, data)
      select 'pet.deleted', id, row_to_json(was)::text from was order by id;
      ${countOut}`,
  },
  {
    table: 'categories',
    event: 'insert',
    name: 'append_categories_added',
    body: `insert into event_outbox (type, data)
      select 'category.updated', row_to_json(became)::text from became order by id;`,
  },
  {
    table: 'categories',
    event: 'update',
    name: 'append_categories_updated',
    body: `insert into event_outbox (type, data, previous)
      select 'category.updated', row_to_json(became)::text, row_to_json(was)::text from became join was using (id)
      where became.name <> was.name order by id;`,
  },
  {
    table: 'categories',
    event: 'delete',
    name: 'append_categories_deleted',
    body: `insert into event_outbox (type, data)
      select 'category.deleted', row_to_json(was)::text from was order by id;`,
  },
  {
    table: 'orders',
    event: 'insert',
    name: 'append_orders_added',
    body: `insert into event_outbox (type, account_id, data)
      select 'order.' || status, account_id, row_to_json(became)::text from became order by id;`,
  },
  {
    table: 'orders',
    event: 'update',
    name: 'append_orders_updated',
    body: `insert into event_outbox (type, account_id, data)
      select 'order.' || became.status, became.account_id, row_to_json(became)::text
      from became join was using (id) where became.status <> was.status order by id;`,
  },
] as const;

/**
 * Creates triggers that run in the transaction of every change, by any program. They write the event and the change
 * of the inventory.
 */
export function createPostgresTriggers() {
  return [
    sql`drop trigger pets_edited on pets`,
    sql`drop function count_pet_edit`,
    ...triggers.flatMap(({ table, event, name, body }) => [
      createFunction(name, body),
      createTrigger(table, event, name),
    ]),
    ...refuseOlderReleases(),
  ];
}

/**
 * Refuses writes by instances of the previous release, which does not support orders. Their inserts lack the new
 * column `is_owned`. The error code 57P03 means that a server is not ready, so such an instance responds with 503.
 */
function refuseOlderReleases() {
  return [
    sql`alter table pets alter column is_owned drop default`,
    sql.raw(`create function refuse_older_releases() returns trigger language plpgsql as $$ begin
      raise exception 'an instance of an older release may not write to this store'
        using errcode = 'cannot_connect_now'; end $$`),
    sql`create trigger pets_of_older_releases before insert on pets for each row
      when (new.is_owned is null) execute function refuse_older_releases()`,
  ];
}
