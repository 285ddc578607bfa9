create table pets (
      id integer primary key autoincrement,
      name text not null,
      category_id integer not null,
      status text not null check (status = 'available' or status = 'pending' or status = 'sold')
    ) strict;

create index pets_by_status on pets (status desc, id);

create table pet_edits (count integer not null) strict;

insert into pet_edits values (0);

create trigger pets_updated after update on pets begin update pet_edits set count = count + 1; end;

create trigger pets_deleted after delete on pets begin update pet_edits set count = count + 1; end;

create trigger pets_put before insert on pets when new.id <> -1 begin update pet_edits set count = count + 1; end;

create table accounts (
      id integer primary key autoincrement,
      name text not null unique,
      plan text not null check (plan in ('free', 'pro', 'business', 'enterprise')),
      per_minute integer check (per_minute >= 1),
      per_day integer check (per_day >= 1),
      created_at_ms integer not null,
      check ((plan = 'enterprise') = (per_minute is not null and per_day is not null))
    ) strict;

create table api_keys (
      id text primary key,
      account_id integer not null references accounts (id),
      secret_hash blob not null unique,
      visible_start text not null,
      scopes text not null,
      created_at_ms integer not null,
      expires_at_ms integer,
      revoked_at_ms integer,
      last_used_at_ms integer
    ) strict;

create index api_keys_by_account on api_keys (account_id);

create table idempotency_records (
      account_id integer not null references accounts (id),
      key text not null,
      body_hash blob not null,
      pet_id integer not null,
      created_at_ms integer not null,
      primary key (account_id, key)
    ) strict;

create index idempotency_records_by_age on idempotency_records (created_at_ms);

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

create table secrets (name text primary key, value blob not null) strict;

insert into secrets (name, value) values ('cursor', randomblob(32));
