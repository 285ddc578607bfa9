create table usage_days (
  account_id bigint not null,
  day_at_ms bigint not null,
  requests bigint not null,
  refusals bigint not null,
  errors bigint not null,
  primary key (account_id, day_at_ms)
);

create index usage_days_by_age on usage_days (day_at_ms, account_id);

-- Before the insert, which also runs if the hour has a row: then the new counts are added to it, as here to the day. And the
-- row of the day is locked before those of its hours, so that two instances do not deadlock.
create function add_usage_days() returns trigger language plpgsql as $$
begin
  insert into usage_days as day
    values (new.account_id, new.hour_at_ms - new.hour_at_ms % 86400000, new.requests, new.refusals, new.errors)
    on conflict (account_id, day_at_ms) do update set requests = day.requests + excluded.requests,
      refusals = day.refusals + excluded.refusals, errors = day.errors + excluded.errors;
  return new;
end
$$;

create trigger add_usage_days before insert on usage_hours
  for each row execute function add_usage_days();

-- After the trigger, whose creation waits for the writes of running instances.
insert into usage_days
  select account_id, hour_at_ms - hour_at_ms % 86400000, sum(requests), sum(refusals), sum(errors)
  from usage_hours
  group by 1, 2;
