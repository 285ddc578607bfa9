-- The present schema, which all migrations together make. `npm run schema` writes this file; a change is a migration.
-- storage/tables.ts says what the columns mean.

create table pets (
  id integer primary key autoincrement,
  name text not null,
  category_id integer not null,
  status text not null check (status = 'available' or status = 'pending' or status = 'sold'),
  is_owned integer not null default 0
) strict;

create index pets_by_category_and_status on pets (category_id, status, id);
create index pets_by_status on pets (status desc, id);

create trigger pets_added after insert on pets
begin
  insert into events (type, pet_id, data, previous)
    values (
      'pet.added', new.id,
      json_object('id', new.id, 'name', new.name, 'category_id', new.category_id, 'status', new.status), null
    );
end;

create trigger pets_counted after insert on pets
begin
  update inventory_totals
    set available = available + (new.status = 'available'), pending = pending + (new.status = 'pending'),
      sold = sold + (new.status = 'sold');
  insert into inventory_by_category
    values (new.category_id, new.status = 'available', new.status = 'pending', new.status = 'sold')
    on conflict (category_id)
    do update set available = available + excluded.available, pending = pending + excluded.pending,
      sold = sold + excluded.sold;
end;

create trigger pets_deleted after delete on pets
begin
  insert into events (type, pet_id, data, previous)
    values (
      'pet.deleted', old.id,
      json_object('id', old.id, 'name', old.name, 'category_id', old.category_id, 'status', old.status), null
    );
end;

create trigger pets_discounted after delete on pets
begin
  update inventory_totals
    set available = available - (old.status = 'available'), pending = pending - (old.status = 'pending'),
      sold = sold - (old.status = 'sold');
  update inventory_by_category
    set available = available - (old.status = 'available'), pending = pending - (old.status = 'pending'),
      sold = sold - (old.status = 'sold')
    where category_id = old.category_id;
end;

create trigger pets_moved after update of status on pets
  when new.status <> old.status and new.category_id = old.category_id
begin
  update inventory_totals
    set available = available + (new.status = 'available') - (old.status = 'available'),
      pending = pending + (new.status = 'pending') - (old.status = 'pending'),
      sold = sold + (new.status = 'sold') - (old.status = 'sold');
  update inventory_by_category
    set available = available + (new.status = 'available') - (old.status = 'available'),
      pending = pending + (new.status = 'pending') - (old.status = 'pending'),
      sold = sold + (new.status = 'sold') - (old.status = 'sold')
    where category_id = new.category_id;
end;

create trigger pets_recounted after update of category_id, status on pets
  when new.category_id <> old.category_id
begin
  update inventory_totals
    set available = available -(old.status = 'available'), pending = pending -(old.status = 'pending'),
      sold = sold -(old.status = 'sold');
  insert into inventory_by_category
    values (old.category_id, -(old.status = 'available'), -(old.status = 'pending'), -(old.status = 'sold'))
    on conflict (category_id)
    do update set available = available + excluded.available, pending = pending + excluded.pending,
      sold = sold + excluded.sold;
  update inventory_totals
    set available = available +(new.status = 'available'), pending = pending +(new.status = 'pending'),
      sold = sold +(new.status = 'sold');
  insert into inventory_by_category
    values (new.category_id, +(new.status = 'available'), +(new.status = 'pending'), +(new.status = 'sold'))
    on conflict (category_id)
    do update set available = available + excluded.available, pending = pending + excluded.pending,
      sold = sold + excluded.sold;
end;

create trigger pets_updated after update of name, category_id, status on pets
  when new.name <> old.name or new.category_id <> old.category_id or new.status <> old.status
begin
  insert into events (type, pet_id, data, previous)
    values (
      'pet.updated', new.id,
      json_object('id', new.id, 'name', new.name, 'category_id', new.category_id, 'status', new.status),
      json_object('id', old.id, 'name', old.name, 'category_id', old.category_id, 'status', old.status)
    );
end;

create table categories (
  id integer primary key,
  name text not null
) strict;

create trigger categories_added after insert on categories
begin
  insert into events (type, data) values ('category.updated', json_object('id', new.id, 'name', new.name));
end;

create trigger categories_deleted after delete on categories
begin
  insert into events (type, data) values ('category.deleted', json_object('id', old.id, 'name', old.name));
end;

create trigger categories_updated after update on categories when new.name <> old.name
begin
  insert into events (type, data, previous)
    values (
      'category.updated', json_object('id', new.id, 'name', new.name),
      json_object('id', old.id, 'name', old.name)
    );
end;

create table accounts (
  id integer primary key autoincrement,
  name text not null unique,
  plan text not null check (plan in ('free', 'pro', 'business', 'enterprise')),
  per_minute integer check (per_minute >= 1),
  per_day integer check (per_day >= 1),
  created_at_ms integer not null,
  open_holds integer check (open_holds >= 1),
  suspended_at_ms integer,
  own_per_minute integer,
  own_per_day integer,
  own_until_ms integer,
  deleted_at_ms integer,
  check ((plan = 'enterprise') = (per_minute is not null and per_day is not null))
) strict;

create index accounts_by_name on accounts (lower(name), id);

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

create trigger orders_added after insert on orders
begin
  insert into events (type, account_id, data)
    values (
      'order.' || new.status, new.account_id,
      json_object(
        'id', new.id, 'account_id', new.account_id, 'pet_id', new.pet_id, 'status', new.status, 'reference',
        new.reference, 'created_at_ms', new.created_at_ms, 'expires_at_ms', new.expires_at_ms, 'closed_at_ms',
        new.closed_at_ms
      )
    );
end;

create trigger orders_updated after update of status on orders when new.status <> old.status
begin
  insert into events (type, account_id, data)
    values (
      'order.' || new.status, new.account_id,
      json_object(
        'id', new.id, 'account_id', new.account_id, 'pet_id', new.pet_id, 'status', new.status, 'reference',
        new.reference, 'created_at_ms', new.created_at_ms, 'expires_at_ms', new.expires_at_ms, 'closed_at_ms',
        new.closed_at_ms
      )
    );
end;

create table api_keys (
  id text primary key,
  account_id integer not null references accounts (id),
  secret_hash blob not null unique,
  visible_start text not null,
  scopes text not null,
  created_at_ms integer not null,
  expires_at_ms integer,
  revoked_at_ms integer,
  last_used_at_ms integer,
  name text,
  replaced_by text,
  end_before_rotation_ms integer
) strict;

create index api_keys_by_account on api_keys (account_id, created_at_ms, id);
create index api_keys_by_name on api_keys (lower(name), id) where name is not null;
create index api_keys_by_visible_start on api_keys (lower(visible_start), id);
create index api_keys_not_ended on api_keys (account_id, expires_at_ms) where revoked_at_ms is null;
create index api_keys_not_revoked on api_keys (account_id, created_at_ms, id)
  where revoked_at_ms is null or revoked_at_ms = expires_at_ms;

create table requests (
  id integer primary key autoincrement,
  at_ms integer not null,
  last_at_ms integer not null,
  account_id integer,
  key_id text,
  address text,
  operation text,
  status integer not null,
  code text,
  message text,
  request_id text,
  duration_ms integer not null,
  times integer not null,
  merge_key text unique,
  subject text
) strict;

create index requests_by_account on requests (account_id, last_at_ms, id);
create index requests_by_key on requests (key_id, id) where key_id is not null;
create index requests_by_request_id on requests (request_id) where request_id is not null;

create table strangers (
  minute_at_ms integer not null,
  address text not null,
  refusals integer not null,
  primary key (minute_at_ms, address)
) strict;

create table erasures (
  account_id integer primary key references accounts (id)
) strict;

create table limit_resets (
  id integer primary key autoincrement,
  account_id integer not null,
  at_ms integer not null
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

create trigger usage_hours_added before insert on usage_hours
begin
  insert into usage_days
    values (
      new.account_id, new.hour_at_ms - new.hour_at_ms % 86400000, new.requests, new.refusals, new.errors
    )
    on conflict (account_id, day_at_ms)
    do update set requests = requests + excluded.requests, refusals = refusals + excluded.refusals,
      errors = errors + excluded.errors;
end;

create table usage_days (
  account_id integer not null,
  day_at_ms integer not null,
  requests integer not null,
  refusals integer not null,
  errors integer not null,
  primary key (account_id, day_at_ms)
) strict;

create index usage_days_by_age on usage_days (day_at_ms, account_id);

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

create index audit_by_account on audit (account_id, id) where account_id is not null;
create index audit_by_action on audit (action, id);

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

create table event_outbox (
  id integer primary key autoincrement,
  at_ms integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
  type text not null,
  account_id integer,
  pet_id integer,
  data text not null,
  previous text
) strict;

create table events (
  id integer primary key autoincrement,
  at_ms integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
  type text not null,
  account_id integer,
  pet_id integer,
  data text not null,
  previous text
) strict;

create index events_by_account_and_type on events ((cast(account_id as text) || ' ' || type), id)
  where account_id is not null;
create index events_by_type on events (type, id);
create index events_of_account on events (account_id, id) where account_id is not null;
create index events_of_orders on events (id) where account_id is not null;

create table event_horizon (
  deleted_to integer not null,
  only_row integer not null default 1 check (only_row = 1)
) strict;

create unique index event_horizon_only_row on event_horizon (only_row);

create table event_gaps (
  lost_after integer primary key,
  skipped_to integer not null
) strict;

create table inventory_totals (
  available integer not null,
  pending integer not null,
  sold integer not null,
  only_row integer not null default 1 check (only_row = 1)
) strict;

create unique index inventory_totals_only_row on inventory_totals (only_row);

create table inventory_by_category (
  category_id integer primary key,
  available integer not null,
  pending integer not null,
  sold integer not null
) strict;

create table inventory_changes (
  id integer primary key autoincrement,
  category_id integer not null,
  available integer not null,
  pending integer not null,
  sold integer not null
) strict;

create index inventory_changes_by_category on inventory_changes (category_id);

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
  created_at_ms integer not null,
  disabled_because text check (disabled_because in ('owner', 'operator', 'gone', 'failing', 'restored'))
) strict;

create index webhooks_behind on webhooks (status, position, id);
create index webhooks_by_account on webhooks (account_id, id);
create index webhooks_by_key on webhooks (key_id);
create index webhooks_by_status on webhooks (status, id);
create index webhooks_failing on webhooks (id) where failures > 0;

create table webhook_requests (
  id integer primary key autoincrement,
  webhook_id integer not null references webhooks (id) on delete cascade,
  message_id text not null,
  position integer not null
) strict;

create unique index webhook_requests_by_position on webhook_requests (webhook_id, position);

create table webhook_attempts (
  id integer primary key autoincrement,
  webhook_id integer not null references webhooks (id) on delete cascade,
  message_id text not null,
  at_ms integer not null,
  result text not null,
  duration_ms integer not null,
  attempt integer,
  is_manual integer,
  answer_start blob
) strict;

create index webhook_attempts_by_webhook on webhook_attempts (webhook_id, id);

create table webhook_secrets (
  id integer primary key autoincrement,
  webhook_id integer not null references webhooks (id) on delete cascade,
  secret blob not null,
  ends_at_ms integer
) strict;

create index webhook_secrets_by_webhook on webhook_secrets (webhook_id, id);

create table imported_files (
  sha256 text primary key,
  at_ms integer not null
) strict;

create table leases (
  name text primary key,
  holder text not null,
  until_ms integer not null
) strict;

create table instances (
  id text primary key,
  host text not null,
  version text not null,
  started_at_ms integer not null,
  seen_at_ms integer not null
) strict;

create table log_change (
  name text primary key,
  id text not null,
  level text,
  requests text
) strict;

create table usage_windows (
  subject text primary key,
  minute_used integer not null,
  minute_ends_at_ms integer not null,
  day_used integer not null,
  day_ends_at_ms integer not null
) strict;

create index usage_windows_by_end on usage_windows (day_ends_at_ms);

create table key_bans (
  key_id text primary key,
  banned_until_ms integer not null,
  last_ban_at_ms integer not null,
  last_ban_ms integer not null,
  refused_at_ms text not null,
  forget_at_ms integer not null
) strict;

create index key_bans_by_end on key_bans (forget_at_ms);

create table operators (
  name text primary key,
  role text not null check (role in ('reader', 'support', 'admin')),
  created_at_ms integer not null
) strict;

create table console_links (
  token_hash blob primary key,
  made_by text not null,
  expires_at_ms integer not null,
  operator text references operators (name) on delete cascade
) strict;

create table console_sessions (
  token_hash blob primary key,
  id text not null unique,
  made_by text not null,
  created_at_ms integer not null,
  expires_at_ms integer not null,
  operator text references operators (name) on delete cascade,
  kind text not null default 'session' check (kind in ('session', 'token'))
) strict;

create table secrets (
  name text primary key,
  value blob not null
) strict;
