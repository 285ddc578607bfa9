create table usage_days (
  account_id integer not null,
  day_at_ms integer not null,
  requests integer not null,
  refusals integer not null,
  errors integer not null,
  primary key (account_id, day_at_ms)
) strict;

create index usage_days_by_age on usage_days (day_at_ms, account_id);

-- Before the insert, which also runs if the hour has a row: then the new counts are added to it, as here to the day.
create trigger usage_hours_added before insert on usage_hours begin
  insert into usage_days
    values (new.account_id, new.hour_at_ms - new.hour_at_ms % 86400000, new.requests, new.refusals, new.errors)
    on conflict (account_id, day_at_ms) do update set requests = requests + excluded.requests,
      refusals = refusals + excluded.refusals, errors = errors + excluded.errors;
end;

insert into usage_days
  select account_id, hour_at_ms - hour_at_ms % 86400000, sum(requests), sum(refusals), sum(errors)
  from usage_hours
  group by 1, 2;
