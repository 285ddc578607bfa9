-- What operators search for: the start of a name in any case, the shown start of a key, and the events of one order.
create index pets_by_name on pets (lower(name) collate "C", id);

create index api_keys_by_name on api_keys (lower(name) collate "C", id) where name is not null;

create index api_keys_by_visible_start on api_keys (lower(visible_start) collate "C", id);

create index events_of_order on events (cast(cast(data as jsonb) ->> 'id' as bigint), id)
  where account_id is not null;
