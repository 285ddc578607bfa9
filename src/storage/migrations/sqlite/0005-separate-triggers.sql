-- The event and the counts of a change each have a trigger, so a new field of an animal changes only the triggers of events.
drop trigger pets_added;

drop trigger pets_deleted;

create trigger pets_added after insert on pets begin
  insert into events (type, pet_id, data, previous)
    values ('pet.added', new.id,
      json_object('id', new.id, 'name', new.name, 'category_id', new.category_id, 'status', new.status), null);
end;

create trigger pets_deleted after delete on pets begin
  insert into events (type, pet_id, data, previous)
    values ('pet.deleted', old.id,
      json_object('id', old.id, 'name', old.name, 'category_id', old.category_id, 'status', old.status), null);
end;

create trigger pets_counted after insert on pets begin
  update inventory_totals set available = available + (new.status = 'available'),
    pending = pending + (new.status = 'pending'), sold = sold + (new.status = 'sold');
  insert into inventory_by_category
    values (new.category_id, new.status = 'available', new.status = 'pending', new.status = 'sold')
    on conflict (category_id) do update set available = available + excluded.available,
      pending = pending + excluded.pending, sold = sold + excluded.sold;
end;

create trigger pets_discounted after delete on pets begin
  update inventory_totals set available = available - (old.status = 'available'),
    pending = pending - (old.status = 'pending'), sold = sold - (old.status = 'sold');
  update inventory_by_category set available = available - (old.status = 'available'),
    pending = pending - (old.status = 'pending'), sold = sold - (old.status = 'sold')
    where category_id = old.category_id;
end;
