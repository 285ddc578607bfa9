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

create table erasures (
  account_id bigint primary key references accounts (id)
);

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

create table webhook_requests (
  id bigint generated always as identity primary key,
  webhook_id bigint not null references webhooks (id) on delete cascade,
  message_id text not null,
  position bigint not null
);

create table webhook_attempts (
  id bigint generated always as identity primary key,
  webhook_id bigint not null references webhooks (id) on delete cascade,
  message_id text not null,
  at_ms bigint not null,
  result text not null,
  duration_ms bigint not null
);

-- `gone` and `failing` are guesses for webhooks that an earlier release disabled.
alter table webhooks add column disabled_because text
  check (disabled_because in ('owner', 'operator', 'gone', 'failing'));

update webhooks set disabled_because = case
    when last_result = '410' then 'gone'
    when failing_since_ms is not null then 'failing'
    else 'owner' end
  where status = 'disabled';

-- A ping has position 0.
insert into webhook_requests (webhook_id, message_id, position)
  select id, ping_id, 0 from webhooks where ping_id is not null;

alter table webhooks drop column ping_id;

-- The sender reads the webhooks that are behind the end of the feed, farthest behind first.
create index webhooks_behind on webhooks (status, position, id);

-- With these indexes, the next event of a webhook is one search for each of its types.
create index events_by_type on events (type, id);

-- The planner cannot replace the search of the text by a sort of all events of the account.
create index events_by_account_and_type on events ((cast(account_id as text) || ' ' || type), id)
  where account_id is not null;

create unique index webhook_requests_by_position on webhook_requests (webhook_id, position);

create index webhook_attempts_by_webhook on webhook_attempts (webhook_id, id);
