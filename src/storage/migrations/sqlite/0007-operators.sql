create table operators (
  name text primary key,
  role text not null check (role in ('reader', 'support', 'admin')),
  created_at_ms integer not null
) strict;

-- Null for a person who has the shell of the service and is not an operator.
alter table console_links add column operator text references operators (name) on delete cascade;

alter table console_sessions add column operator text references operators (name) on delete cascade;

alter table console_sessions add column kind text not null default 'session' check (kind in ('session', 'token'));
