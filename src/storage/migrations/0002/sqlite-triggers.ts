import { sql } from 'kysely';

const petRow = (row: 'new' | 'old') =>
  `json_object('id', ${row}.id, 'name', ${row}.name, 'category_id', ${row}.category_id, 'status', ${row}.status)`;

const categoryRow = (row: 'new' | 'old') => `json_object('id', ${row}.id, 'name', ${row}.name)`;

const orderRow = `json_object('id', new.id, 'account_id', new.account_id, 'pet_id', new.pet_id, 'status', new.status,
  'reference', new.reference, 'created_at_ms', new.created_at_ms, 'expires_at_ms', new.expires_at_ms,
  'closed_at_ms', new.closed_at_ms)`;

const appendPetEvent = (type: string, row: 'new' | 'old', previous = 'null') =>
  `insert into events (type, pet_id, data, previous)
    values ('${type}', ${row}.id, ${petRow(row)}, ${previous});`;

const appendOrderEvent = `insert into events (type, account_id, data)
  values ('order.' || new.status, new.account_id, ${orderRow});`;

/** SQL that adds an animal to the inventory (`+`) or removes it (`-`). */
const count = (row: 'new' | 'old', sign: '+' | '-') => {
  const number = (status: string) => `${sign}(${row}.status = '${status}')`;
  return `
    update inventory_totals set available = available ${number('available')},
      pending = pending ${number('pending')}, sold = sold ${number('sold')};
    insert into inventory_by_category
      values (${row}.category_id, ${number('available')}, ${number('pending')}, ${number('sold')})
      on conflict (category_id) do update set available = available + excluded.available,
        pending = pending + excluded.pending, sold = sold + excluded.sold;`;
};

/** SQL that moves an animal to its new status in the inventory. Only for a change within one category. */
const countMoved = () => {
  const sums = ['available', 'pending', 'sold'].map(
    (status) => `${status} = ${status} + (new.status = '${status}') - (old.status = '${status}')`,
  );
  return `update inventory_totals set ${sums.join(', ')};
    update inventory_by_category set ${sums.join(', ')} where category_id = new.category_id;`;
};

/**
 * Creates triggers that run in the transaction of every change, by any program. They write the event and update the
 * inventory.
 */
export function createSqliteTriggers() {
  const dropped = ['pets_updated', 'pets_deleted', 'pets_put'];
  return [
    ...dropped.map((name) => sql.raw(`drop trigger ${name}`)),
    sql.raw(`create trigger pets_added after insert on pets begin
      ${appendPetEvent('pet.added', 'new')} ${count('new', '+')} end`),
    sql.raw(`create trigger pets_updated after update of name, category_id, status on pets
      when new.name <> old.name or new.category_id <> old.category_id or new.status <> old.status begin
      ${appendPetEvent('pet.updated', 'new', petRow('old'))} end`),
    sql.raw(`create trigger pets_moved after update of status on pets
      when new.status <> old.status and new.category_id = old.category_id begin ${countMoved()} end`),
    sql.raw(`create trigger pets_recounted after update of category_id, status on pets
      when new.category_id <> old.category_id begin
      ${count('old', '-')} ${count('new', '+')} end`),
    sql.raw(`create trigger pets_deleted after delete on pets begin
      ${appendPetEvent('pet.deleted', 'old')} ${count('old', '-')} end`),
    sql.raw(`create trigger categories_added after insert on categories begin
      insert into events (type, data) values ('category.updated', ${categoryRow('new')}); end`),
    sql.raw(`create trigger categories_updated after update on categories when new.name <> old.name begin
      insert into events (type, data, previous)
        values ('category.updated', ${categoryRow('new')}, ${categoryRow('old')}); end`),
    sql.raw(`create trigger categories_deleted after delete on categories begin
      insert into events (type, data) values ('category.deleted', ${categoryRow('old')}); end`),
    sql.raw(`create trigger orders_added after insert on orders begin ${appendOrderEvent} end`),
    sql.raw(`create trigger orders_updated after update of status on orders when new.status <> old.status begin
      ${appendOrderEvent} end`),
  ];
}
