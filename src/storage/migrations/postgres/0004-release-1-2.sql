drop index orders_by_account_and_reference;

drop index orders_by_account_and_pet;

drop index orders_by_reference_and_pet;

drop index orders_by_account_and_reference_and_pet;

-- No statement reads this index any more.
drop index events_of_edits;

-- A change of the name then mostly finds room in the page of its row, and changes no index (HOT).
alter table pets set (fillfactor = 90);

alter table api_keys add column replaced_by text;

alter table api_keys add column end_before_rotation_ms bigint;

alter table accounts add column own_per_minute bigint;

alter table accounts add column own_per_day bigint;

alter table accounts add column own_until_ms bigint;

alter table accounts add column deleted_at_ms bigint;

create index accounts_by_name on accounts ((lower(name) collate "C"), id);

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

create index requests_by_account on requests (account_id, id);

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

create index webhooks_failing on webhooks (id) where failures > 0;

-- No statement reads the transaction of an event.
alter table event_outbox drop column tx;

alter table events drop column tx;

-- The positions between the two may have been given by a server that this one took over from. Nothing gives them again.
create table event_gaps (lost_after bigint primary key, skipped_to bigint not null);

-- The timeline of the server that gave the last ids. A promotion begins a new timeline.
create table server_timeline (timeline bigint not null);

create function read_timeline() returns bigint language sql as $$
  select ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint $$;

insert into server_timeline values (read_timeline());

-- The former server may have given ids that this one does not know. On a new timeline, the first insert into any of
-- these tables therefore skips ids in all of them, a million for each timeline: one between may be lost, too. Other
-- inserts wait until this is committed.
create function skip_lost_ids() returns trigger language plpgsql as $$
  declare
    server bigint := read_timeline();
    seen bigint := (select timeline from server_timeline);
  begin
    if seen = server then return null; end if;
    select timeline into seen from server_timeline for update;
    if seen = server then return null; end if;
    perform setval(ids, nextval(ids) + 1000000 * greatest(1, server - seen))
      from (select pg_get_serial_sequence(name, 'id')::regclass as ids from unnest(array['accounts', 'pets', 'orders',
        'events', 'audit', 'ban_lifts', 'limit_resets', 'requests', 'webhooks', 'webhook_secrets', 'webhook_requests',
        'webhook_attempts']) as name) as sequences;
    insert into event_gaps
      select greatest(deleted_to, (select max(id) from events), (select max(skipped_to) from event_gaps)),
        currval(pg_get_serial_sequence('events', 'id')) from event_horizon;
    update server_timeline set timeline = server;
    return null;
  end $$;

do $$ declare name text;
  begin
    foreach name in array array['accounts', 'pets', 'orders', 'events', 'audit', 'ban_lifts', 'limit_resets', 'webhooks']
    loop
      execute format('create trigger skip_lost_ids before insert on %I
        for each statement execute function skip_lost_ids()', name);
    end loop;
  end $$;
