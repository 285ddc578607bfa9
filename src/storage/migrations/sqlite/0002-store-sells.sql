create table categories (id integer primary key, name text not null) strict;

alter table accounts add column open_holds integer check (open_holds >= 1);

create table orders (
      id integer primary key autoincrement,
      account_id integer not null references accounts (id),
      pet_id integer not null,
      status text not null check (status in ('reserved', 'completed', 'cancelled', 'expired', 'returned')),
      reference text,
      created_at_ms integer not null,
      expires_at_ms integer not null,
      closed_at_ms integer,
      check ((status = 'reserved') = (closed_at_ms is null))
    ) strict;

create unique index orders_owning on orders (pet_id) where status in ('reserved', 'completed');

create index orders_by_expiry on orders (expires_at_ms, id) where closed_at_ms is null;

create index orders_by_status on orders (status, id);

create index orders_by_account on orders (account_id, status, id);

create index orders_by_reference on orders (reference, status, id) where reference is not null;

create index orders_by_account_and_reference on orders (account_id, reference, status, id)
        where reference is not null;

create index orders_by_pet on orders (pet_id, status, id) where status not in ('reserved', 'completed');

create index orders_by_account_and_pet on orders (account_id, pet_id, status, id) where status not in ('reserved', 'completed');

create index orders_by_reference_and_pet on orders (reference, pet_id, status, id)
        where reference is not null and status not in ('reserved', 'completed');

create index orders_by_account_and_reference_and_pet on orders (account_id, reference, pet_id, status, id)
        where reference is not null and status not in ('reserved', 'completed');

create table event_outbox (
    id integer primary key autoincrement,
    at_ms integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
    type text not null,
    account_id integer,
    pet_id integer,
    data text not null,
    previous text) strict;

create table events (
    id integer primary key autoincrement,
    at_ms integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
    type text not null,
    account_id integer,
    pet_id integer,
    data text not null,
    previous text) strict;

create index events_of_edits on events (id) where pet_id is not null and type <> 'pet.added';

create index events_of_orders on events (id) where account_id is not null;

create index events_of_account on events (account_id, id) where account_id is not null;

create table event_horizon (deleted_to integer not null) strict;

insert into event_horizon (deleted_to) values (0);

create table inventory_totals (
    available integer not null,
    pending integer not null,
    sold integer not null) strict;

create table inventory_by_category (
      category_id integer primary key, 
    available integer not null,
    pending integer not null,
    sold integer not null
    ) strict;

create table inventory_changes (
      id integer primary key autoincrement, category_id integer not null, 
    available integer not null,
    pending integer not null,
    sold integer not null
    ) strict;

create index inventory_changes_by_category on inventory_changes (category_id);

create table first_answers (
      account_id integer not null references accounts (id),
      key_hash blob not null,
      operation text not null,
      body_hash blob not null,
      status integer not null,
      location text not null,
      body text not null,
      created_at_ms integer not null,
      primary key (account_id, key_hash)
    ) strict;

create index first_answers_by_age on first_answers (created_at_ms);

alter table api_keys add column name text;

alter table accounts add column suspended_at_ms integer;

drop index api_keys_by_account;

create index api_keys_by_account on api_keys (account_id, created_at_ms, id);

create table audit (
      id integer primary key autoincrement,
      at_ms integer not null,
      actor_kind text not null check (actor_kind in ('command', 'console', 'key')),
      actor text not null,
      action text not null,
      subject text not null,
      account_id integer,
      before text,
      after text
    ) strict;

create table ban_lifts (
      id integer primary key autoincrement,
      key_id text not null,
      account_id integer not null,
      at_ms integer not null
    ) strict;

create table usage_hours (
      account_id integer not null,
      hour_at_ms integer not null,
      requests integer not null,
      refusals integer not null,
      errors integer not null,
      primary key (account_id, hour_at_ms)
    ) strict;

create index usage_hours_by_age on usage_hours (hour_at_ms);

create index audit_by_account on audit (account_id, id) where account_id is not null;

create index audit_by_action on audit (action, id);

create table console_links (
      token_hash blob primary key,
      made_by text not null,
      expires_at_ms integer not null
    ) strict;

create table console_sessions (
      token_hash blob primary key,
      id text not null unique,
      made_by text not null,
      created_at_ms integer not null,
      expires_at_ms integer not null
    ) strict;

create table webhooks (
      id integer primary key autoincrement,
      public_id text not null unique,
      account_id integer not null references accounts (id),
      key_id text not null,
      url text not null,
      types text not null,
      sees_pets integer not null,
      sees_orders text not null check (sees_orders in ('none', 'own', 'all')),
      status text not null check (status in ('enabled', 'disabled')),
      position integer not null,
      revision integer not null,
      failures integer not null,
      failing_since_ms integer,
      next_attempt_at_ms integer not null,
      last_attempt_at_ms integer,
      last_result text,
      ping_id text,
      created_at_ms integer not null
    ) strict;

create index webhooks_by_account on webhooks (account_id, id);

create index webhooks_by_key on webhooks (key_id);

create index webhooks_by_status on webhooks (status, id);

create table webhook_secrets (
      id integer primary key autoincrement,
      webhook_id integer not null references webhooks (id) on delete cascade,
      secret blob not null,
      ends_at_ms integer
    ) strict;

create index webhook_secrets_by_webhook on webhook_secrets (webhook_id, id);

create table leases (
      name text primary key,
      holder text not null,
      until_ms integer not null
    ) strict;

alter table pets add column is_owned integer not null default 0;

create index pets_by_category_and_status on pets (category_id, status, id);

insert into inventory_totals select coalesce(sum(case when status = 'available' then 1 else 0 end), 0), coalesce(sum(case when status = 'pending' then 1 else 0 end), 0), coalesce(sum(case when status = 'sold' then 1 else 0 end), 0) from pets;

insert into inventory_by_category select category_id, coalesce(sum(case when status = 'available' then 1 else 0 end), 0), coalesce(sum(case when status = 'pending' then 1 else 0 end), 0), coalesce(sum(case when status = 'sold' then 1 else 0 end), 0) from pets group by category_id;

drop trigger pets_updated;

drop trigger pets_deleted;

drop trigger pets_put;

create trigger pets_added after insert on pets begin
      insert into events (type, pet_id, data, previous)
    values ('pet.added', new.id, json_object('id', new.id, 'name', new.name, 'category_id', new.category_id, 'status', new.status), null); 
    update inventory_totals set available = available +(new.status = 'available'),
      pending = pending +(new.status = 'pending'), sold = sold +(new.status = 'sold');
    insert into inventory_by_category
      values (new.category_id, +(new.status = 'available'), +(new.status = 'pending'), +(new.status = 'sold'))
      on conflict (category_id) do update set available = available + excluded.available,
        pending = pending + excluded.pending, sold = sold + excluded.sold; end;

create trigger pets_updated after update of name, category_id, status on pets
      when new.name <> old.name or new.category_id <> old.category_id or new.status <> old.status begin
      insert into events (type, pet_id, data, previous)
    values ('pet.updated', new.id, json_object('id', new.id, 'name', new.name, 'category_id', new.category_id, 'status', new.status), json_object('id', old.id, 'name', old.name, 'category_id', old.category_id, 'status', old.status)); end;

create trigger pets_moved after update of status on pets
      when new.status <> old.status and new.category_id = old.category_id begin update inventory_totals set available = available + (new.status = 'available') - (old.status = 'available'), pending = pending + (new.status = 'pending') - (old.status = 'pending'), sold = sold + (new.status = 'sold') - (old.status = 'sold');
    update inventory_by_category set available = available + (new.status = 'available') - (old.status = 'available'), pending = pending + (new.status = 'pending') - (old.status = 'pending'), sold = sold + (new.status = 'sold') - (old.status = 'sold') where category_id = new.category_id; end;

create trigger pets_recounted after update of category_id, status on pets
      when new.category_id <> old.category_id begin
      
    update inventory_totals set available = available -(old.status = 'available'),
      pending = pending -(old.status = 'pending'), sold = sold -(old.status = 'sold');
    insert into inventory_by_category
      values (old.category_id, -(old.status = 'available'), -(old.status = 'pending'), -(old.status = 'sold'))
      on conflict (category_id) do update set available = available + excluded.available,
        pending = pending + excluded.pending, sold = sold + excluded.sold; 
    update inventory_totals set available = available +(new.status = 'available'),
      pending = pending +(new.status = 'pending'), sold = sold +(new.status = 'sold');
    insert into inventory_by_category
      values (new.category_id, +(new.status = 'available'), +(new.status = 'pending'), +(new.status = 'sold'))
      on conflict (category_id) do update set available = available + excluded.available,
        pending = pending + excluded.pending, sold = sold + excluded.sold; end;

create trigger pets_deleted after delete on pets begin
      insert into events (type, pet_id, data, previous)
    values ('pet.deleted', old.id, json_object('id', old.id, 'name', old.name, 'category_id', old.category_id, 'status', old.status), null); 
    update inventory_totals set available = available -(old.status = 'available'),
      pending = pending -(old.status = 'pending'), sold = sold -(old.status = 'sold');
    insert into inventory_by_category
      values (old.category_id, -(old.status = 'available'), -(old.status = 'pending'), -(old.status = 'sold'))
      on conflict (category_id) do update set available = available + excluded.available,
        pending = pending + excluded.pending, sold = sold + excluded.sold; end;

create trigger categories_added after insert on categories begin
      insert into events (type, data) values ('category.updated', json_object('id', new.id, 'name', new.name)); end;

create trigger categories_updated after update on categories when new.name <> old.name begin
      insert into events (type, data, previous)
        values ('category.updated', json_object('id', new.id, 'name', new.name), json_object('id', old.id, 'name', old.name)); end;

create trigger categories_deleted after delete on categories begin
      insert into events (type, data) values ('category.deleted', json_object('id', old.id, 'name', old.name)); end;

create trigger orders_added after insert on orders begin insert into events (type, account_id, data)
  values ('order.' || new.status, new.account_id, json_object('id', new.id, 'account_id', new.account_id, 'pet_id', new.pet_id, 'status', new.status,
  'reference', new.reference, 'created_at_ms', new.created_at_ms, 'expires_at_ms', new.expires_at_ms,
  'closed_at_ms', new.closed_at_ms)); end;

create trigger orders_updated after update of status on orders when new.status <> old.status begin
      insert into events (type, account_id, data)
  values ('order.' || new.status, new.account_id, json_object('id', new.id, 'account_id', new.account_id, 'pet_id', new.pet_id, 'status', new.status,
  'reference', new.reference, 'created_at_ms', new.created_at_ms, 'expires_at_ms', new.expires_at_ms,
  'closed_at_ms', new.closed_at_ms)); end;

drop table pet_edits;

insert into first_answers (account_id, key_hash, operation, body_hash, status, location, body, created_at_ms)
  select account_id, sha256(account_id || ' ' || key), 'createPet', idempotency_records.body_hash, 201, '/pets/' || pets.id,
  '{"id":' || pets.id || ',"name":' || json_quote(pets.name) || ',"categoryId":' || pets.category_id
    || ',"status":"' || pets.status || '"}',
  idempotency_records.created_at_ms
  from idempotency_records join pets on pets.id = pet_id;

drop table idempotency_records;
