-- The files that were imported, so that nobody imports one twice.
create table imported_files (sha256 text primary key, at_ms bigint not null);

-- As before, but after a restore the webhooks are on hold: their receivers may have got events that this store does not
-- know. The sessions of operators end: their owners may have been removed since. A promotion changes only the timeline, and
-- with it no webhook and no session.
create or replace function skip_lost_ids() returns trigger language plpgsql as $$
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
  end $$;
