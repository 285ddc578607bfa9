drop index orders_by_account_and_reference;

drop index orders_by_account_and_pet;

drop index orders_by_reference_and_pet;

drop index orders_by_account_and_reference_and_pet;

-- The planner cannot replace the search of the sum by a sort of all orders of the account.
create index orders_by_account_and_pet on orders ((account_id + 0), pet_id, status, id)
  where status not in ('reserved', 'completed');

create index orders_by_account_and_reference on orders ((account_id + 0), reference, status, id)
  where reference is not null;

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

-- `gone` and `failing` are guesses for webhooks that an earlier release disabled. No act writes `restored` yet: this release
-- shows it, so that the next one can write it beside this one.
alter table webhooks add column disabled_because text
  check (disabled_because in ('owner', 'operator', 'gone', 'failing', 'restored'));

update webhooks set disabled_because = case
    when last_result = '410' then 'gone'
    when failing_since_ms is not null then 'failing'
    else 'owner' end
  where status = 'disabled';

-- A ping has position 0. The column stays, because instances of 1.1.0 read and write it.
insert into webhook_requests (webhook_id, message_id, position)
  select id, ping_id, 0 from webhooks where ping_id is not null;

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

-- The columns `tx` stay, because instances of 1.1.0 read and write them. This index only makes that faster.
drop index event_outbox_by_transaction;

-- The positions between the two may have been given by a server that this one took over from. Nothing gives them again.
create table event_gaps (lost_after bigint primary key, skipped_to bigint not null);

-- A careless restore leaves several rows in these two tables.
do $$ declare
    name text;
    rows bigint;
  begin
    foreach name in array array['event_horizon', 'inventory_totals'] loop
      execute format('select count(*) from %I', name) into rows;
      if rows <> 1 then
        raise exception '% has % rows instead of one: repair the store as docs/operations/backup-and-restore.md says in "After a bad restore"',
          name, rows;
      end if;
    end loop;
  end $$;

alter table event_horizon add column only_row bigint primary key default 1 check (only_row = 1);

alter table inventory_totals add column only_row bigint primary key default 1 check (only_row = 1);

-- The server that gave the last ids: its timeline, which a promotion changes, the oid of this table, and the transaction
-- that wrote the row. The restore of a dump writes the row in another transaction, and in a new server with another oid.
create table server_timeline (
  only_row bigint primary key default 1 check (only_row = 1),
  timeline bigint not null,
  table_id oid not null,
  written_in xid not null default pg_current_xact_id()::xid
);

create function read_timeline() returns bigint language sql as $$
  select ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint $$;

insert into server_timeline (timeline, table_id) values (read_timeline(), 'server_timeline'::regclass);

-- The former server may have given ids that this one does not know. After a promotion or a restore, the first insert
-- into any of these tables therefore skips ids in all of them, a million for each timeline: one between may be lost,
-- too. Other inserts wait until this is committed.
create function skip_lost_ids() returns trigger language plpgsql as $$
  declare
    server bigint := read_timeline();
    seen bigint;
    lost bigint;
    name text;
    last_position bigint;
    last_skipped bigint := 0;
  begin
    select timeline into seen from server_timeline
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
    end if;
    insert into event_gaps values (last_position, last_skipped);
    update server_timeline set timeline = server, table_id = tableoid, written_in = default;
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
