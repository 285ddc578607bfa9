import { type QueryCreator, sql } from 'kysely';
import { type Statement, statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';
import type { Pet, PetPatch } from './pet.ts';
import type { PetRow } from './pet-rows.ts';

/** The parameters of a change. A null field stays unchanged. */
export type Change = { id: bigint; name: string | null; categoryId: bigint | null; status: string | null };
/** The state that an animal must have for a statement to take effect. */
type Expected = { id: bigint; oldName: string; oldCategoryId: bigint; oldStatus: string };

/** Converts a patch into the parameters of a change. Ignores unknown fields. */
export function toChange(id: bigint, { name, categoryId, status }: PetPatch): Change {
  return { id, name: name ?? null, categoryId: categoryId ?? null, status: status ?? null };
}

/** Converts an animal into the parameters of `updateExpectedPet` and `deleteExpectedPet`. */
export function toExpected({ id, name, categoryId, status }: Pet): Expected {
  return { id, oldName: name, oldCategoryId: categoryId, oldStatus: status };
}

const isFree = sql<boolean>`is_owned = 0`;

/** True for each field that a change sets. */
interface Taken {
  readonly name: boolean;
  readonly categoryId: boolean;
  readonly status: boolean;
}

/** Sets only the fields of the change, because SQLite rewrites every index that contains a column in `set`. */
function update(query: QueryCreator<Tables>, p: Change, taken: Taken) {
  const isEmpty = !(taken.name || taken.categoryId || taken.status);
  return query
    .updateTable('pets')
    .set({
      ...(isEmpty && { name: sql<string>`name` }),
      ...(taken.name && { name: sql<string>`cast(${p.name} as text)` }),
      ...(taken.categoryId && { category_id: sql<bigint>`cast(${p.categoryId} as bigint)` }),
      ...(taken.status && { status: sql<string>`cast(${p.status} as text)` }),
    })
    .where('id', '=', p.id)
    .returning(['id', 'name', 'category_id', 'status']);
}

/** Builds and caches one statement for each combination of fields. */
function forChanges<P extends Change>(
  build: (taken: Taken) => Statement<P, PetRow>,
): (change: Change) => Statement<P, PetRow> {
  const built = new Map<string, Statement<P, PetRow>>();
  return ({ name, categoryId, status }) => {
    const taken = { name: name !== null, categoryId: categoryId !== null, status: status !== null };
    const key = Object.values(taken).join();
    const known = built.get(key) ?? build(taken);
    built.set(key, known);
    return known;
  };
}

/** Changes an animal and returns its new state. Returns no row if the animal does not exist. */
export const updatePet = forChanges((taken) => statement<Change>()((query, p) => update(query, p, taken)));

/** Like `updatePet`, but changes nothing and returns no row if an order owns the animal. */
export const updateFreePet = forChanges((taken) =>
  statement<Change>()((query, p) => update(query, p, taken).where(isFree)),
);

/** Like `updateFreePet`, but also changes nothing if the animal has changed since it was read. */
export const updateExpectedPet = forChanges((taken) =>
  statement<Change & Expected>()((query, p) =>
    update(query, p, taken)
      .where(isFree)
      .where('name', '=', p.oldName)
      .where('category_id', '=', p.oldCategoryId)
      .where('status', '=', p.oldStatus),
  ),
);

function remove(query: QueryCreator<Tables>, { id }: { id: bigint }) {
  return query.deleteFrom('pets').where('id', '=', id).returning(['id', 'name', 'category_id', 'status']);
}

/** Deletes an animal and returns its last state. Returns no row if the animal does not exist. */
export const deletePet = statement<{ id: bigint }>()(remove);

/** Like `deletePet`, but deletes nothing and returns no row if an order owns the animal. */
export const deleteFreePet = statement<{ id: bigint }>()((query, p) => remove(query, p).where(isFree));

/** Like `deleteFreePet`, but also deletes nothing if the animal has changed since it was read. */
export const deleteExpectedPet = statement<Expected>()((query, p) =>
  remove(query, p)
    .where(isFree)
    .where('name', '=', p.oldName)
    .where('category_id', '=', p.oldCategoryId)
    .where('status', '=', p.oldStatus),
);

/** Selects an animal and whether an order owns the animal. On PostgreSQL, locks the row until the transaction ends. */
export const lockPet = statement<{ id: bigint }>()((query, p, { engine }) => {
  const pet = query
    .selectFrom('pets')
    .select(['id', 'name', 'category_id', 'status', 'is_owned'])
    .where('id', '=', p.id);
  return engine === 'postgres' ? pet.forUpdate() : pet;
});
