create table pets (
      id bigint generated always as identity primary key,
      name text not null,
      category_id bigint not null,
      status text not null check (status = 'available' or status = 'pending' or status = 'sold')
    );

create index "pets_available_by_id" on pets (id) where status = 'available';

create index "pets_pending_by_id" on pets (id) where status = 'pending';

create index "pets_sold_by_id" on pets (id) where status = 'sold';

create table pet_edits (count bigint not null);

insert into pet_edits values (0);

create function count_pet_edit() returns trigger language plpgsql as
      'begin update pet_edits set count = count + 1; return null; end';

create trigger pets_edited after update or delete or truncate on pets
      for each statement execute function count_pet_edit();

create table accounts (
      id bigint generated always as identity primary key,
      name text not null unique,
      plan text not null check (plan in ('free', 'pro', 'business', 'enterprise')),
      per_minute bigint check (per_minute >= 1),
      per_day bigint check (per_day >= 1),
      created_at_ms bigint not null,
      check ((plan = 'enterprise') = (per_minute is not null and per_day is not null))
    );

create table api_keys (
      id text primary key,
      account_id bigint not null references accounts (id),
      secret_hash bytea not null unique,
      visible_start text not null,
      scopes text not null,
      created_at_ms bigint not null,
      expires_at_ms bigint,
      revoked_at_ms bigint,
      last_used_at_ms bigint
    );

create index api_keys_by_account on api_keys (account_id);

create function tell_account_change() returns trigger language plpgsql as
      'begin perform pg_notify(''animal_store_accounts'', to_jsonb(old) ->> tg_argv[0]); return null; end';

create trigger api_keys_changed
      after delete or update of account_id, secret_hash, scopes, expires_at_ms, revoked_at_ms on api_keys
      for each row execute function tell_account_change('account_id');

create trigger accounts_changed
      after delete or update on accounts
      for each row execute function tell_account_change('id');

create table idempotency_records (
      account_id bigint not null references accounts (id),
      key text not null,
      body_hash bytea not null,
      pet_id bigint not null,
      created_at_ms bigint not null,
      primary key (account_id, key)
    );

create index idempotency_records_by_age on idempotency_records (created_at_ms);

create table usage_windows (
      subject text primary key,
      minute_used bigint not null,
      minute_ends_at_ms bigint not null,
      day_used bigint not null,
      day_ends_at_ms bigint not null
    );

create index usage_windows_by_end on usage_windows (day_ends_at_ms);

create table key_bans (
      key_id text primary key,
      banned_until_ms bigint not null,
      last_ban_at_ms bigint not null,
      last_ban_ms bigint not null,
      refused_at_ms text not null,
      forget_at_ms bigint not null
    );

create index key_bans_by_end on key_bans (forget_at_ms);

create table secrets (name text primary key, value bytea not null);

insert into secrets (name, value)
  values ('cursor', decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
