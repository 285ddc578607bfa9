-- The present schema, which all migrations together make. `npm run schema` writes this file; a change is a migration.
-- storage/tables.ts says what the columns mean.

create function read_timeline() returns bigint language sql as $$
  select ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint
$$;

create function skip_lost_ids() returns trigger language plpgsql as $$
  declare
    server bigint := read_timeline();
    seen bigint;
    is_restored boolean;
    lost bigint;
    name text;
    last_position bigint;
    last_skipped bigint := 0;
  begin
    select timeline, timeline = 0 or table_id <> tableoid or written_in <> xmin into seen, is_restored
      from server_timeline
      where timeline <> server or table_id <> tableoid or written_in <> xmin for update;
    if not found then return null; end if;
    lost := 1000000 * greatest(1, server - seen);
    select greatest(deleted_to, (select max(id) from events), (select max(skipped_to) from event_gaps))
      into last_position from event_horizon;
    -- The timeline -1 is a rehearsal. It skips nothing, because a rollback would not undo that.
    if seen >= 0 then
      foreach name in array array['accounts', 'pets', 'orders', 'events', 'event_outbox', 'inventory_changes', 'audit',
        'ban_lifts', 'limit_resets', 'requests', 'webhooks', 'webhook_secrets', 'webhook_requests', 'webhook_attempts']
      loop
        execute format('select setval(%1$L, greatest(nextval(%1$L), max(id)) + $1) from %2$I',
          pg_get_serial_sequence(name, 'id'), name) using lost;
      end loop;
      name := pg_get_serial_sequence('events', 'id');
      last_skipped := setval(name, greatest(currval(name), last_position + lost));
      if is_restored then
        update webhooks set status = 'disabled', disabled_because = 'restored', revision = revision + 1, failures = 0,
            failing_since_ms = null, next_attempt_at_ms = 0
          where status = 'enabled';
        delete from console_sessions;
        delete from console_links;
      end if;
    end if;
    insert into event_gaps values (last_position, last_skipped);
    update server_timeline set timeline = server, table_id = tableoid, written_in = default;
    return null;
  end
$$;

create table pets (
  id bigint generated always as identity,
  name text not null,
  category_id bigint not null,
  status text not null,
  is_owned bigint not null,
  constraint pets_pkey primary key (id),
  constraint pets_status_check check (status = 'available' or status = 'pending' or status = 'sold')
) with (fillfactor=90);

create index pets_available_by_category on pets (category_id, id)
  where status >= 'available' and status <= 'available';
create index pets_available_by_id on pets (id) where status = 'available';
create index pets_pending_by_category on pets (category_id, id)
  where status >= 'pending' and status <= 'pending';
create index pets_pending_by_id on pets (id) where status = 'pending';
create index pets_sold_by_category on pets (category_id, id) where status >= 'sold' and status <= 'sold';
create index pets_sold_by_id on pets (id) where status = 'sold';

create function append_pets_added() returns trigger language plpgsql as $$
begin
  insert into event_outbox (type, pet_id, data)
    select 'pet.added', id, row_to_json(became)::text
    from became
    order by id;
  return null;
end
$$;

create trigger append_pets_added after insert on pets
  referencing new table as became
  for each statement execute function append_pets_added();

create function append_pets_deleted() returns trigger language plpgsql as $$
begin
  insert into event_outbox (type, pet_id, data)
    select 'pet.deleted', id, row_to_json(was)::text
    from was
    order by id;
  return null;
end
$$;

create trigger append_pets_deleted after delete on pets
  referencing old table as was
  for each statement execute function append_pets_deleted();

create function append_pets_updated() returns trigger language plpgsql as $$
begin
  insert into event_outbox (type, pet_id, data, previous)
    select 'pet.updated', id, row_to_json(became)::text, row_to_json(was)::text
    from became
    join was using (id)
    where (became.name, became.category_id, became.status)
      is distinct from (was.name, was.category_id, was.status)
    order by id;
  return null;
end
$$;

create trigger append_pets_updated after update on pets
  referencing old table as was new table as became
  for each statement execute function append_pets_updated();

create function count_pets_added() returns trigger language plpgsql as $$
begin
  insert into inventory_changes (category_id, available, pending, sold)
    select category_id, count(*) filter (where status = 'available'),
      count(*) filter (where status = 'pending'), count(*) filter (where status = 'sold')
    from became
    group by category_id;
  return null;
end
$$;

create trigger count_pets_added after insert on pets
  referencing new table as became
  for each statement execute function count_pets_added();

create function count_pets_deleted() returns trigger language plpgsql as $$
begin
  insert into inventory_changes (category_id, available, pending, sold)
    select category_id, -count(*) filter (where status = 'available'),
      -count(*) filter (where status = 'pending'), -count(*) filter (where status = 'sold')
    from was
    group by category_id;
  return null;
end
$$;

create trigger count_pets_deleted after delete on pets
  referencing old table as was
  for each statement execute function count_pets_deleted();

create function count_pets_updated() returns trigger language plpgsql as $$
begin
  insert into inventory_changes (category_id, available, pending, sold)
    select category_id, sum(available), sum(pending), sum(sold)
    from (
      select category_id, count(*) filter (where status = 'available'),
        count(*) filter (where status = 'pending'), count(*) filter (where status = 'sold')
      from became
      group by category_id
      union all
      select category_id, -count(*) filter (where status = 'available'),
        -count(*) filter (where status = 'pending'), -count(*) filter (where status = 'sold')
      from was
      group by category_id
    ) as changes (category_id, available, pending, sold)
    group by category_id
    having sum(available) <> 0 or sum(pending) <> 0 or sum(sold) <> 0;
  return null;
end
$$;

create trigger count_pets_updated after update on pets
  referencing old table as was new table as became
  for each statement execute function count_pets_updated();

create function refuse_older_releases() returns trigger language plpgsql as $$
begin
  raise exception 'an instance of an older release may not write to this store' using errcode = 'cannot_connect_now';
end
$$;

create trigger pets_of_older_releases before insert on pets
  for each row
  when (new.is_owned is null) execute function refuse_older_releases();

create trigger skip_lost_ids before insert on pets for each statement execute function skip_lost_ids();

create table categories (
  id bigint not null,
  name text not null,
  constraint categories_pkey primary key (id)
);

create function append_categories_added() returns trigger language plpgsql as $$
begin
  insert into event_outbox (type, data)
    select 'category.updated', row_to_json(became)::text
    from became
    order by id;
  return null;
end
$$;

create trigger append_categories_added after insert on categories
  referencing new table as became
  for each statement execute function append_categories_added();

create function append_categories_deleted() returns trigger language plpgsql as $$
begin
  insert into event_outbox (type, data)
    select 'category.deleted', row_to_json(was)::text
    from was
    order by id;
  return null;
end
$$;

create trigger append_categories_deleted after delete on categories
  referencing old table as was
  for each statement execute function append_categories_deleted();

create function append_categories_updated() returns trigger language plpgsql as $$
begin
  insert into event_outbox (type, data, previous)
    select 'category.updated', row_to_json(became)::text, row_to_json(was)::text
    from became
    join was using (id)
    where became.name <> was.name
    order by id;
  return null;
end
$$;

create trigger append_categories_updated after update on categories
  referencing old table as was new table as became
  for each statement execute function append_categories_updated();

create table accounts (
  id bigint generated always as identity,
  name text not null,
  plan text not null,
  per_minute bigint,
  per_day bigint,
  created_at_ms bigint not null,
  open_holds bigint,
  suspended_at_ms bigint,
  own_per_minute bigint,
  own_per_day bigint,
  own_until_ms bigint,
  deleted_at_ms bigint,
  constraint accounts_pkey primary key (id),
  constraint accounts_name_key unique (name),
  constraint accounts_check check ((plan = 'enterprise') = (per_minute is not null and per_day is not null)),
  constraint accounts_open_holds_check check (open_holds >= 1),
  constraint accounts_per_day_check check (per_day >= 1),
  constraint accounts_per_minute_check check (per_minute >= 1),
  constraint accounts_plan_check check (plan in ('free', 'pro', 'business', 'enterprise'))
);

create index accounts_by_name on accounts (lower(name) collate "C", id);

create trigger skip_lost_ids before insert on accounts for each statement execute function skip_lost_ids();

create table orders (
  id bigint generated always as identity,
  account_id bigint not null,
  pet_id bigint not null,
  status text not null,
  reference text,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  closed_at_ms bigint,
  constraint orders_pkey primary key (id),
  constraint orders_account_id_fkey foreign key (account_id) references accounts(id),
  constraint orders_check check ((status = 'reserved') = (closed_at_ms is null)),
  constraint orders_status_check check (
    status in ('reserved', 'completed', 'cancelled', 'expired', 'returned')
  )
);

create index orders_by_account on orders (account_id, status, id);
create index orders_by_account_and_pet on orders ((account_id + 0), pet_id, status, id)
  where status not in ('reserved', 'completed');
create index orders_by_account_and_reference on orders ((account_id + 0), reference, status, id)
  where reference is not null;
create index orders_by_expiry on orders (expires_at_ms, id) where closed_at_ms is null;
create index orders_by_pet on orders (pet_id, status, id) where status not in ('reserved', 'completed');
create index orders_by_reference on orders (reference, status, id) where reference is not null;
create index orders_by_status on orders (status, id);
create unique index orders_owning on orders (pet_id) where status in ('reserved', 'completed');

create function append_orders_added() returns trigger language plpgsql as $$
begin
  insert into event_outbox (type, account_id, data)
    select 'order.' || status, account_id, row_to_json(became)::text
    from became
    order by id;
  return null;
end
$$;

create trigger append_orders_added after insert on orders
  referencing new table as became
  for each statement execute function append_orders_added();

create function append_orders_updated() returns trigger language plpgsql as $$
begin
  insert into event_outbox (type, account_id, data)
    select 'order.' || became.status, became.account_id, row_to_json(became)::text
    from became
    join was using (id)
    where became.status <> was.status
    order by id;
  return null;
end
$$;

create trigger append_orders_updated after update on orders
  referencing old table as was new table as became
  for each statement execute function append_orders_updated();

create trigger skip_lost_ids before insert on orders for each statement execute function skip_lost_ids();

create table api_keys (
  id text not null,
  account_id bigint not null,
  secret_hash bytea not null,
  visible_start text not null,
  scopes text not null,
  created_at_ms bigint not null,
  expires_at_ms bigint,
  revoked_at_ms bigint,
  last_used_at_ms bigint,
  name text,
  replaced_by text,
  end_before_rotation_ms bigint,
  constraint api_keys_pkey primary key (id),
  constraint api_keys_secret_hash_key unique (secret_hash),
  constraint api_keys_account_id_fkey foreign key (account_id) references accounts(id)
);

create index api_keys_by_account on api_keys (account_id, created_at_ms, id);
create index api_keys_by_name on api_keys (lower(name) collate "C", id) where name is not null;
create index api_keys_by_visible_start on api_keys (lower(visible_start) collate "C", id);
create index api_keys_not_ended on api_keys (account_id, expires_at_ms) where revoked_at_ms is null;
create index api_keys_not_revoked on api_keys (account_id, created_at_ms, id)
  where revoked_at_ms is null or revoked_at_ms = expires_at_ms;

create table requests (
  id bigint generated always as identity,
  at_ms bigint not null,
  last_at_ms bigint not null,
  account_id bigint,
  key_id text,
  address text,
  operation text,
  status bigint not null,
  code text,
  message text,
  request_id text,
  duration_ms bigint not null,
  times bigint not null,
  merge_key text,
  subject text,
  constraint requests_pkey primary key (id),
  constraint requests_merge_key_key unique (merge_key)
);

create index requests_by_account on requests (account_id, last_at_ms, id);
create index requests_by_key on requests (key_id, id) where key_id is not null;
create index requests_by_request_id on requests (request_id) where request_id is not null;

create table strangers (
  minute_at_ms bigint not null,
  address text not null,
  refusals bigint not null,
  constraint strangers_pkey primary key (minute_at_ms, address)
);

create table erasures (
  account_id bigint not null,
  constraint erasures_pkey primary key (account_id),
  constraint erasures_account_id_fkey foreign key (account_id) references accounts(id)
);

create table limit_resets (
  id bigint generated always as identity,
  account_id bigint not null,
  at_ms bigint not null,
  constraint limit_resets_pkey primary key (id)
);

create trigger skip_lost_ids before insert on limit_resets for each statement execute function skip_lost_ids();

create table ban_lifts (
  id bigint generated always as identity,
  key_id text not null,
  account_id bigint not null,
  at_ms bigint not null,
  constraint ban_lifts_pkey primary key (id)
);

create trigger skip_lost_ids before insert on ban_lifts for each statement execute function skip_lost_ids();

create table usage_hours (
  account_id bigint not null,
  hour_at_ms bigint not null,
  requests bigint not null,
  refusals bigint not null,
  errors bigint not null,
  constraint usage_hours_pkey primary key (account_id, hour_at_ms)
);

create index usage_hours_by_age on usage_hours (hour_at_ms);

create function add_usage_days() returns trigger language plpgsql as $$
begin
  insert into usage_days as day
    values (
      new.account_id, new.hour_at_ms - new.hour_at_ms % 86400000, new.requests, new.refusals, new.errors
    )
    on conflict (account_id, day_at_ms)
    do update set requests = day.requests + excluded.requests, refusals = day.refusals + excluded.refusals,
      errors = day.errors + excluded.errors;
  return new;
end
$$;

create trigger add_usage_days before insert on usage_hours for each row execute function add_usage_days();

create table usage_days (
  account_id bigint not null,
  day_at_ms bigint not null,
  requests bigint not null,
  refusals bigint not null,
  errors bigint not null,
  constraint usage_days_pkey primary key (account_id, day_at_ms)
);

create index usage_days_by_age on usage_days (day_at_ms, account_id);

create table audit (
  id bigint generated always as identity,
  at_ms bigint not null,
  actor_kind text not null,
  actor text not null,
  action text not null,
  subject text not null,
  account_id bigint,
  before text,
  after text,
  constraint audit_pkey primary key (id),
  constraint audit_actor_kind_check check (actor_kind in ('command', 'console', 'key'))
);

create index audit_by_account on audit (account_id, id) where account_id is not null;
create index audit_by_action on audit (action, id);

create trigger skip_lost_ids before insert on audit for each statement execute function skip_lost_ids();

create table first_answers (
  account_id bigint not null,
  key_hash bytea not null,
  operation text not null,
  body_hash bytea not null,
  status bigint not null,
  location text not null,
  body text not null,
  created_at_ms bigint not null,
  constraint first_answers_pkey primary key (account_id, key_hash),
  constraint first_answers_account_id_fkey foreign key (account_id) references accounts(id)
);

create index first_answers_by_age on first_answers (created_at_ms);

create table event_outbox (
  id bigint generated always as identity,
  at_ms bigint not null default floor((extract(epoch from clock_timestamp()) * (1000)::numeric)),
  type text not null,
  account_id bigint,
  pet_id bigint,
  data text not null,
  previous text,
  tx xid8 not null default pg_current_xact_id(),
  constraint event_outbox_pkey primary key (id)
);

create table events (
  id bigint generated always as identity,
  at_ms bigint not null default floor((extract(epoch from clock_timestamp()) * (1000)::numeric)),
  type text not null,
  account_id bigint,
  pet_id bigint,
  data text not null,
  previous text,
  tx xid8,
  constraint events_pkey primary key (id)
);

create index events_by_account_and_type on events (((account_id::text || ' ') || type), id)
  where account_id is not null;
create index events_by_type on events (type, id);
create index events_of_account on events (account_id, id) where account_id is not null;
create index events_of_orders on events (id) where account_id is not null;

create trigger skip_lost_ids before insert on events for each statement execute function skip_lost_ids();

create table event_horizon (
  deleted_to bigint not null,
  only_row bigint not null default 1,
  constraint event_horizon_pkey primary key (only_row),
  constraint event_horizon_only_row_check check (only_row = 1)
);

create table event_gaps (
  lost_after bigint not null,
  skipped_to bigint not null,
  constraint event_gaps_pkey primary key (lost_after)
);

create table inventory_totals (
  available bigint not null,
  pending bigint not null,
  sold bigint not null,
  only_row bigint not null default 1,
  constraint inventory_totals_pkey primary key (only_row),
  constraint inventory_totals_only_row_check check (only_row = 1)
);

create table inventory_by_category (
  category_id bigint not null,
  available bigint not null,
  pending bigint not null,
  sold bigint not null,
  constraint inventory_by_category_pkey primary key (category_id)
);

create table inventory_changes (
  id bigint generated always as identity,
  category_id bigint not null,
  available bigint not null,
  pending bigint not null,
  sold bigint not null,
  constraint inventory_changes_pkey primary key (id)
);

create index inventory_changes_by_category on inventory_changes (category_id);

create table webhooks (
  id bigint generated always as identity,
  public_id text not null,
  account_id bigint not null,
  key_id text not null,
  url text not null,
  types text not null,
  sees_pets bigint not null,
  sees_orders text not null,
  status text not null,
  position bigint not null,
  revision bigint not null,
  failures bigint not null,
  failing_since_ms bigint,
  next_attempt_at_ms bigint not null,
  last_attempt_at_ms bigint,
  last_result text,
  ping_id text,
  created_at_ms bigint not null,
  disabled_because text,
  constraint webhooks_pkey primary key (id),
  constraint webhooks_public_id_key unique (public_id),
  constraint webhooks_account_id_fkey foreign key (account_id) references accounts(id),
  constraint webhooks_disabled_because_check check (
    disabled_because in ('owner', 'operator', 'gone', 'failing', 'restored')
  ),
  constraint webhooks_sees_orders_check check (sees_orders in ('none', 'own', 'all')),
  constraint webhooks_status_check check (status in ('enabled', 'disabled'))
);

create index webhooks_behind on webhooks (status, "position", id);
create index webhooks_by_account on webhooks (account_id, id);
create index webhooks_by_key on webhooks (key_id);
create index webhooks_by_status on webhooks (status, id);
create index webhooks_failing on webhooks (id) where failures > 0;

create trigger skip_lost_ids before insert on webhooks for each statement execute function skip_lost_ids();

create table webhook_requests (
  id bigint generated always as identity,
  webhook_id bigint not null,
  message_id text not null,
  position bigint not null,
  constraint webhook_requests_pkey primary key (id),
  constraint webhook_requests_webhook_id_fkey foreign key (webhook_id)
    references webhooks(id)
    on delete cascade
);

create unique index webhook_requests_by_position on webhook_requests (webhook_id, "position");

create table webhook_attempts (
  id bigint generated always as identity,
  webhook_id bigint not null,
  message_id text not null,
  at_ms bigint not null,
  result text not null,
  duration_ms bigint not null,
  attempt bigint,
  is_manual bigint,
  answer_start bytea,
  constraint webhook_attempts_pkey primary key (id),
  constraint webhook_attempts_webhook_id_fkey foreign key (webhook_id)
    references webhooks(id)
    on delete cascade
);

create index webhook_attempts_by_webhook on webhook_attempts (webhook_id, id);

create table webhook_secrets (
  id bigint generated always as identity,
  webhook_id bigint not null,
  secret bytea not null,
  ends_at_ms bigint,
  constraint webhook_secrets_pkey primary key (id),
  constraint webhook_secrets_webhook_id_fkey foreign key (webhook_id)
    references webhooks(id)
    on delete cascade
);

create index webhook_secrets_by_webhook on webhook_secrets (webhook_id, id);

create table imported_files (
  sha256 text not null,
  at_ms bigint not null,
  constraint imported_files_pkey primary key (sha256)
);

create table leases (
  name text not null,
  holder text not null,
  until_ms bigint not null,
  constraint leases_pkey primary key (name)
);

create table instances (
  id text not null,
  host text not null,
  version text not null,
  started_at_ms bigint not null,
  seen_at_ms bigint not null,
  constraint instances_pkey primary key (id)
);

create table log_change (
  name text not null,
  id text not null,
  level text,
  requests text,
  constraint log_change_pkey primary key (name)
);

create table usage_windows (
  subject text not null,
  minute_used bigint not null,
  minute_ends_at_ms bigint not null,
  day_used bigint not null,
  day_ends_at_ms bigint not null,
  constraint usage_windows_pkey primary key (subject)
);

create index usage_windows_by_end on usage_windows (day_ends_at_ms);

create table key_bans (
  key_id text not null,
  banned_until_ms bigint not null,
  last_ban_at_ms bigint not null,
  last_ban_ms bigint not null,
  refused_at_ms text not null,
  forget_at_ms bigint not null,
  constraint key_bans_pkey primary key (key_id)
);

create index key_bans_by_end on key_bans (forget_at_ms);

create table operators (
  name text not null,
  role text not null,
  created_at_ms bigint not null,
  constraint operators_pkey primary key (name),
  constraint operators_role_check check (role in ('reader', 'support', 'admin'))
);

create table console_links (
  token_hash bytea not null,
  made_by text not null,
  expires_at_ms bigint not null,
  operator text,
  constraint console_links_pkey primary key (token_hash),
  constraint console_links_operator_fkey foreign key (operator) references operators(name) on delete cascade
);

create table console_sessions (
  token_hash bytea not null,
  id text not null,
  made_by text not null,
  created_at_ms bigint not null,
  expires_at_ms bigint not null,
  operator text,
  kind text not null default 'session',
  constraint console_sessions_pkey primary key (token_hash),
  constraint console_sessions_id_key unique (id),
  constraint console_sessions_operator_fkey foreign key (operator)
    references operators(name)
    on delete cascade,
  constraint console_sessions_kind_check check (kind in ('session', 'token'))
);

create table secrets (
  name text not null,
  value bytea not null,
  constraint secrets_pkey primary key (name)
);

create table idempotency_records (
  account_id bigint not null,
  key text not null,
  body_hash bytea not null,
  pet_id bigint not null,
  created_at_ms bigint not null,
  constraint idempotency_records_pkey primary key (account_id, key),
  constraint idempotency_records_account_id_fkey foreign key (account_id) references accounts(id)
);

create index idempotency_records_by_age on idempotency_records (created_at_ms);

create table server_timeline (
  only_row bigint not null default 1,
  timeline bigint not null,
  table_id oid not null,
  written_in xid not null default (pg_current_xact_id())::xid,
  constraint server_timeline_pkey primary key (only_row),
  constraint server_timeline_only_row_check check (only_row = 1)
);
