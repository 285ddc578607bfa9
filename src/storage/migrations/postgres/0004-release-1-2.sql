drop index orders_by_account_and_reference;

drop index orders_by_account_and_pet;

drop index orders_by_reference_and_pet;

drop index orders_by_account_and_reference_and_pet;

alter table api_keys add column replaced_by text;

alter table api_keys add column end_before_rotation_ms bigint;

alter table accounts add column own_per_minute bigint;

alter table accounts add column own_per_day bigint;

alter table accounts add column own_until_ms bigint;

alter table accounts add column deleted_at_ms bigint;

create table limit_resets (
  id bigint generated always as identity primary key,
  account_id bigint not null,
  at_ms bigint not null
);

create table requests (
  id bigint generated always as identity primary key,
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
  merge_key text unique
);

create index requests_by_account on requests (account_id, id) where account_id is not null;

create index requests_by_key on requests (key_id, id) where key_id is not null;

create index requests_by_request_id on requests (request_id) where request_id is not null;

drop trigger api_keys_changed on api_keys;

drop trigger accounts_changed on accounts;

drop function tell_account_change();
