-- The addresses of the last hour whose requests without a valid key were refused most.
create table strangers (
  minute_at_ms integer not null,
  address text not null,
  refusals integer not null,
  primary key (minute_at_ms, address)
) strict;

-- The instances that run. A SQLite store has one, which writes no row.
create table instances (
  id text primary key,
  host text not null,
  version text not null,
  started_at_ms integer not null,
  seen_at_ms integer not null
) strict;

-- At most one row, 'log': how the running instances log, until they start again.
create table log_change (
  name text primary key,
  id text not null,
  level text,
  requests text
) strict;
