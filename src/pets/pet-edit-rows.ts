import { type QueryCreator, sql } from 'kysely';
import { statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';
import type { Pet, PetPatch } from './pet.ts';

/** What a change takes; null leaves a field as it is. */
export type Change = { id: bigint; name: string | null; categoryId: bigint | null; status: string | null };
/** An animal as it must be for a statement to act. */
type Expected = { id: bigint; oldName: string; oldCategoryId: bigint; oldStatus: string };

/** A patch as the parameters of a change: the fields that a patch may name, and no other. */
export function toChange(id: bigint, { name, categoryId, status }: PetPatch): Change {
  return { id, name: name ?? null, categoryId: categoryId ?? null, status: status ?? null };
}

/** The parameters of a statement that acts only on an animal as it was read. */
export function toExpected({ id, name, categoryId, status }: Pet): Expected {
  return { id, oldName: name, oldCategoryId: categoryId, oldStatus: status };
}

const isFree = sql<boolean>`is_owned = 0`;

function update(query: QueryCreator<Tables>, p: Change) {
  return query
    .updateTable('pets')
    .set({
      name: sql<string>`coalesce(cast(${p.name} as text), name)`,
      category_id: sql<bigint>`coalesce(cast(${p.categoryId} as bigint), category_id)`,
      status: sql<string>`coalesce(cast(${p.status} as text), status)`,
    })
    .where('id', '=', p.id)
    .returning(['id', 'name', 'category_id', 'status']);
}

/** Changes an animal, and gives it as it became. */
export const updatePet = statement<Change>()(update);

/** The same, unless an order owns the animal. */
export const updateFreePet = statement<Change>()((query, p) => update(query, p).where(isFree));

/** The same, if the animal is as it was read besides. */
export const updateExpectedPet = statement<Change & Expected>()((query, p) =>
  update(query, p)
    .where(isFree)
    .where('name', '=', p.oldName)
    .where('category_id', '=', p.oldCategoryId)
    .where('status', '=', p.oldStatus),
);

function remove(query: QueryCreator<Tables>, { id }: { id: bigint }) {
  return query.deleteFrom('pets').where('id', '=', id).returning(['id', 'name', 'category_id', 'status']);
}

/** Deletes an animal, and gives it as it was. */
export const deletePet = statement<{ id: bigint }>()(remove);

/** The same, unless an order owns the animal. */
export const deleteFreePet = statement<{ id: bigint }>()((query, p) => remove(query, p).where(isFree));

/** The same, if the animal is as it was read besides. */
export const deleteExpectedPet = statement<Expected>()((query, p) =>
  remove(query, p)
    .where(isFree)
    .where('name', '=', p.oldName)
    .where('category_id', '=', p.oldCategoryId)
    .where('status', '=', p.oldStatus),
);

/** An animal and whether it is owned, in one row or none. On PostgreSQL its row is locked until the transaction ends. */
export const lockPet = statement<{ id: bigint }>()((query, p, { engine }) => {
  const pet = query
    .selectFrom('pets')
    .select(['id', 'name', 'category_id', 'status', 'is_owned'])
    .where('id', '=', p.id);
  return engine === 'postgres' ? pet.forUpdate() : pet;
});
