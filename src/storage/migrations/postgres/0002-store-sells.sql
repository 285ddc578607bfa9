create table categories (id bigint primary key, name text not null);

alter table accounts add column open_holds bigint check (open_holds >= 1);

create table orders (
      id bigint generated always as identity primary key,
      account_id bigint not null references accounts (id),
      pet_id bigint not null,
      status text not null check (status in ('reserved', 'completed', 'cancelled', 'expired', 'returned')),
      reference text,
      created_at_ms bigint not null,
      expires_at_ms bigint not null,
      closed_at_ms bigint,
      check ((status = 'reserved') = (closed_at_ms is null))
    );

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
    id bigint generated always as identity primary key,
    at_ms bigint not null default floor(extract(epoch from clock_timestamp()) * 1000),
    type text not null,
    account_id bigint,
    pet_id bigint,
    data text not null,
    previous text);

create table events (
    id bigint generated always as identity primary key,
    at_ms bigint not null default floor(extract(epoch from clock_timestamp()) * 1000),
    type text not null,
    account_id bigint,
    pet_id bigint,
    data text not null,
    previous text);

create index events_of_edits on events (id) where pet_id is not null and type <> 'pet.added';

create index events_of_orders on events (id) where account_id is not null;

create index events_of_account on events (account_id, id) where account_id is not null;

create table event_horizon (deleted_to bigint not null);

insert into event_horizon (deleted_to) values (0);

alter table event_outbox add column tx xid8 not null default pg_current_xact_id();

create index event_outbox_by_transaction on event_outbox (tx);

alter table events add column tx xid8;

create table inventory_totals (
    available bigint not null,
    pending bigint not null,
    sold bigint not null);

create table inventory_by_category (
      category_id bigint primary key, 
    available bigint not null,
    pending bigint not null,
    sold bigint not null
    );

create table inventory_changes (
      id bigint generated always as identity primary key, category_id bigint not null, 
    available bigint not null,
    pending bigint not null,
    sold bigint not null
    );

create index inventory_changes_by_category on inventory_changes (category_id);

create table first_answers (
      account_id bigint not null references accounts (id),
      key_hash bytea not null,
      operation text not null,
      body_hash bytea not null,
      status bigint not null,
      location text not null,
      body text not null,
      created_at_ms bigint not null,
      primary key (account_id, key_hash)
    );

create index first_answers_by_age on first_answers (created_at_ms);

alter table api_keys add column name text;

alter table accounts add column suspended_at_ms bigint;

drop index api_keys_by_account;

create index api_keys_by_account on api_keys (account_id, created_at_ms, id);

create table audit (
      id bigint generated always as identity primary key,
      at_ms bigint not null,
      actor_kind text not null check (actor_kind in ('command', 'console', 'key')),
      actor text not null,
      action text not null,
      subject text not null,
      account_id bigint,
      before text,
      after text
    );

create table ban_lifts (
      id bigint generated always as identity primary key,
      key_id text not null,
      account_id bigint not null,
      at_ms bigint not null
    );

create table usage_hours (
      account_id bigint not null,
      hour_at_ms bigint not null,
      requests bigint not null,
      refusals bigint not null,
      errors bigint not null,
      primary key (account_id, hour_at_ms)
    );

create index usage_hours_by_age on usage_hours (hour_at_ms);

create index audit_by_account on audit (account_id, id) where account_id is not null;

create index audit_by_action on audit (action, id);

create table console_links (
      token_hash bytea primary key,
      made_by text not null,
      expires_at_ms bigint not null
    );

create table console_sessions (
      token_hash bytea primary key,
      id text not null unique,
      made_by text not null,
      created_at_ms bigint not null,
      expires_at_ms bigint not null
    );

create table webhooks (
      id bigint generated always as identity primary key,
      public_id text not null unique,
      account_id bigint not null references accounts (id),
      key_id text not null,
      url text not null,
      types text not null,
      sees_pets bigint not null,
      sees_orders text not null check (sees_orders in ('none', 'own', 'all')),
      status text not null check (status in ('enabled', 'disabled')),
      position bigint not null,
      revision bigint not null,
      failures bigint not null,
      failing_since_ms bigint,
      next_attempt_at_ms bigint not null,
      last_attempt_at_ms bigint,
      last_result text,
      ping_id text,
      created_at_ms bigint not null
    );

create index webhooks_by_account on webhooks (account_id, id);

create index webhooks_by_key on webhooks (key_id);

create index webhooks_by_status on webhooks (status, id);

create table webhook_secrets (
      id bigint generated always as identity primary key,
      webhook_id bigint not null references webhooks (id) on delete cascade,
      secret bytea not null,
      ends_at_ms bigint
    );

create index webhook_secrets_by_webhook on webhook_secrets (webhook_id, id);

create table leases (
      name text primary key,
      holder text not null,
      until_ms bigint not null
    );

alter table pets add column is_owned bigint not null default 0;

create index "pets_available_by_category" on pets (category_id, id)
      where status >= 'available' and status <= 'available';

create index "pets_pending_by_category" on pets (category_id, id)
      where status >= 'pending' and status <= 'pending';

create index "pets_sold_by_category" on pets (category_id, id)
      where status >= 'sold' and status <= 'sold';

insert into inventory_totals select coalesce(sum(case when status = 'available' then 1 else 0 end), 0), coalesce(sum(case when status = 'pending' then 1 else 0 end), 0), coalesce(sum(case when status = 'sold' then 1 else 0 end), 0) from pets;

insert into inventory_by_category select category_id, coalesce(sum(case when status = 'available' then 1 else 0 end), 0), coalesce(sum(case when status = 'pending' then 1 else 0 end), 0), coalesce(sum(case when status = 'sold' then 1 else 0 end), 0) from pets group by category_id;

drop trigger pets_edited on pets;

drop function count_pet_edit;

create function append_pets_added() returns trigger language plpgsql as $$ begin insert into event_outbox (type, pet_id, data)
      select 'pet.added', id, row_to_json(became)::text from became order by id;
      insert into inventory_changes (category_id, available, pending, sold)
  select category_id, count(*) filter (where status = 'available'), count(*) filter (where status = 'pending'), count(*) filter (where status = 'sold') from became group by category_id; return null; end $$;

create trigger append_pets_added after insert on pets
    referencing new table as became for each statement execute function append_pets_added();

create function append_pets_updated() returns trigger language plpgsql as $$ begin insert into event_outbox (type, pet_id, data, previous)
      select 'pet.updated', id, row_to_json(became)::text, row_to_json(was)::text from became join was using (id)
      where (became.name, became.category_id, became.status) is distinct from (was.name, was.category_id, was.status)
      order by id;
      insert into inventory_changes (category_id, available, pending, sold)
      select category_id, sum(available), sum(pending), sum(sold) from (
        select category_id, count(*) filter (where status = 'available'), count(*) filter (where status = 'pending'), count(*) filter (where status = 'sold') from became group by category_id
        union all select category_id, -count(*) filter (where status = 'available'), -count(*) filter (where status = 'pending'), -count(*) filter (where status = 'sold') from was group by category_id
      ) as changes (category_id, available, pending, sold)
      group by category_id having sum(available) <> 0 or sum(pending) <> 0 or sum(sold) <> 0; return null; end $$;

create trigger append_pets_updated after update on pets
    referencing old table as was new table as became for each statement execute function append_pets_updated();

create function append_pets_deleted() returns trigger language plpgsql as $$ begin insert into event_outbox (type, pet_id, data)
      select 'pet.deleted', id, row_to_json(was)::text from was order by id;
      insert into inventory_changes (category_id, available, pending, sold)
  select category_id, -count(*) filter (where status = 'available'), -count(*) filter (where status = 'pending'), -count(*) filter (where status = 'sold') from was group by category_id; return null; end $$;

create trigger append_pets_deleted after delete on pets
    referencing old table as was for each statement execute function append_pets_deleted();

create function append_categories_added() returns trigger language plpgsql as $$ begin insert into event_outbox (type, data)
      select 'category.updated', row_to_json(became)::text from became order by id; return null; end $$;

create trigger append_categories_added after insert on categories
    referencing new table as became for each statement execute function append_categories_added();

create function append_categories_updated() returns trigger language plpgsql as $$ begin insert into event_outbox (type, data, previous)
      select 'category.updated', row_to_json(became)::text, row_to_json(was)::text from became join was using (id)
      where became.name <> was.name order by id; return null; end $$;

create trigger append_categories_updated after update on categories
    referencing old table as was new table as became for each statement execute function append_categories_updated();

create function append_categories_deleted() returns trigger language plpgsql as $$ begin insert into event_outbox (type, data)
      select 'category.deleted', row_to_json(was)::text from was order by id; return null; end $$;

create trigger append_categories_deleted after delete on categories
    referencing old table as was for each statement execute function append_categories_deleted();

create function append_orders_added() returns trigger language plpgsql as $$ begin insert into event_outbox (type, account_id, data)
      select 'order.' || status, account_id, row_to_json(became)::text from became order by id; return null; end $$;

create trigger append_orders_added after insert on orders
    referencing new table as became for each statement execute function append_orders_added();

create function append_orders_updated() returns trigger language plpgsql as $$ begin insert into event_outbox (type, account_id, data)
      select 'order.' || became.status, became.account_id, row_to_json(became)::text
      from became join was using (id) where became.status <> was.status order by id; return null; end $$;

create trigger append_orders_updated after update on orders
    referencing old table as was new table as became for each statement execute function append_orders_updated();

alter table pets alter column is_owned drop default;

create function refuse_older_releases() returns trigger language plpgsql as $$ begin
      raise exception 'an instance of an older release may not write to this store'
        using errcode = 'cannot_connect_now'; end $$;

create trigger pets_of_older_releases before insert on pets for each row
      when (new.is_owned is null) execute function refuse_older_releases();

drop table pet_edits;

insert into first_answers (account_id, key_hash, operation, body_hash, status, location, body, created_at_ms)
    select account_id, sha256(convert_to(account_id || ' ' || key, 'UTF8')), 'createPet', idempotency_records.body_hash, 201, '/pets/' || pets.id,
    '{"id":' || pets.id || ',"name":' || to_json(pets.name) || ',"categoryId":' || pets.category_id
      || ',"status":"' || pets.status || '"}',
    idempotency_records.created_at_ms
    from idempotency_records join pets on pets.id = pet_id;

delete from idempotency_records;
