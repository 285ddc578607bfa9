-- The event and the counts of a change each have a trigger, so a new field of an animal changes only one trigger of events.
-- The new triggers wait for all writers, and later writers also see the new functions: each change is counted once.
create function count_pets_added() returns trigger language plpgsql as $$ begin
  insert into inventory_changes (category_id, available, pending, sold)
    select category_id, count(*) filter (where status = 'available'),
      count(*) filter (where status = 'pending'), count(*) filter (where status = 'sold')
    from became group by category_id;
  return null; end $$;

create function count_pets_updated() returns trigger language plpgsql as $$ begin
  insert into inventory_changes (category_id, available, pending, sold)
    select category_id, sum(available), sum(pending), sum(sold) from (
      select category_id, count(*) filter (where status = 'available'),
        count(*) filter (where status = 'pending'), count(*) filter (where status = 'sold')
      from became group by category_id
      union all select category_id, -count(*) filter (where status = 'available'),
        -count(*) filter (where status = 'pending'), -count(*) filter (where status = 'sold')
      from was group by category_id
    ) as changes (category_id, available, pending, sold)
    group by category_id having sum(available) <> 0 or sum(pending) <> 0 or sum(sold) <> 0;
  return null; end $$;

create function count_pets_deleted() returns trigger language plpgsql as $$ begin
  insert into inventory_changes (category_id, available, pending, sold)
    select category_id, -count(*) filter (where status = 'available'),
      -count(*) filter (where status = 'pending'), -count(*) filter (where status = 'sold')
    from was group by category_id;
  return null; end $$;

create trigger count_pets_added after insert on pets
  referencing new table as became for each statement execute function count_pets_added();

create trigger count_pets_updated after update on pets
  referencing old table as was new table as became for each statement execute function count_pets_updated();

create trigger count_pets_deleted after delete on pets
  referencing old table as was for each statement execute function count_pets_deleted();

create or replace function append_pets_added() returns trigger language plpgsql as $$ begin
  insert into event_outbox (type, pet_id, data)
    select 'pet.added', id, row_to_json(became)::text from became order by id;
  return null; end $$;

create or replace function append_pets_updated() returns trigger language plpgsql as $$ begin
  insert into event_outbox (type, pet_id, data, previous)
    select 'pet.updated', id, row_to_json(became)::text, row_to_json(was)::text from became join was using (id)
    where (became.name, became.category_id, became.status) is distinct from (was.name, was.category_id, was.status)
    order by id;
  return null; end $$;

create or replace function append_pets_deleted() returns trigger language plpgsql as $$ begin
  insert into event_outbox (type, pet_id, data)
    select 'pet.deleted', id, row_to_json(was)::text from was order by id;
  return null; end $$;
