-- What operators search for: the start of a name in any case, the shown start of a key, and the events of one order.
create index pets_by_name on pets (lower(name), id);

create index api_keys_by_name on api_keys (lower(name), id) where name is not null;

create index api_keys_by_visible_start on api_keys (lower(visible_start), id);

create index events_of_order on events (json_extract(data, '$.id'), id) where account_id is not null;
