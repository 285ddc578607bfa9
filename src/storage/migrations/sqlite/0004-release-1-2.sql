drop index orders_by_account_and_reference;

drop index orders_by_account_and_pet;

drop index orders_by_reference_and_pet;

drop index orders_by_account_and_reference_and_pet;

alter table api_keys add column replaced_by text;

alter table api_keys add column end_before_rotation_ms integer;

alter table accounts add column own_per_minute integer;

alter table accounts add column own_per_day integer;

alter table accounts add column own_until_ms integer;

alter table accounts add column deleted_at_ms integer;

create table limit_resets (
  id integer primary key autoincrement,
  account_id integer not null,
  at_ms integer not null
) strict;

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
  merge_key text unique
) strict;

create index requests_by_account on requests (account_id, id) where account_id is not null;

create index requests_by_key on requests (key_id, id) where key_id is not null;

create index requests_by_request_id on requests (request_id) where request_id is not null;
