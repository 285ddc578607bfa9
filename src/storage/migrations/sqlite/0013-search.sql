-- What operators search for: the start of a key's name and of the text of a key as it is shown.
create index api_keys_by_name on api_keys (lower(name), id) where name is not null;

create index api_keys_by_visible_start on api_keys (lower(visible_start), id);
