import { sql } from 'kysely';
import { insertion, type Steps, statement, step } from '../storage/database.ts';
import type { Pet, PetStatus } from './pet.ts';

/** Selects the `count` oldest animals with an id above `afterId`, oldest first. */
export const selectOldest = statement<{ afterId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('pets')
    .select(['id', 'name', 'category_id', 'status'])
    .where('id', '>', p.afterId)
    .orderBy('id', 'asc')
    .limit(p.count),
);

/** Selects one animal. Returns no row if the animal does not exist. */
export const selectPet = statement<{ id: bigint }>()((query, p) =>
  query.selectFrom('pets').select(['id', 'name', 'category_id', 'status']).where('id', '=', p.id),
);

const notOwned = sql<bigint>`0`;

/** Adds an animal and returns its id. Ids increase and are never reused. */
export const insertPet = insertion<{ name: string; categoryId: bigint; status: string }>()((query, rows) =>
  query
    .insertInto('pets')
    .values(
      rows.map((p) => ({ name: p.name, category_id: p.categoryId, status: p.status, is_owned: notOwned })),
    )
    .returning('id'),
);

/** Part of a transaction. Adds an animal and returns its id. */
export function* addPet(pet: Omit<Pet, 'id'>): Steps<bigint> {
  return insertedId(yield* step(insertPet, pet));
}

/** A row of the table `pets` without `is_owned`. */
export interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly category_id: bigint;
  readonly status: string;
}

/** Converts a row into an animal with its fields in the documented order. */
export function toPet({ id, name, category_id, status }: PetRow): Pet {
  return { id, name, categoryId: category_id, status: status as PetStatus };
}

/** Returns the id from the result of `insertPet`. */
export function insertedId(rows: readonly { id: bigint }[]): bigint {
  const [row] = rows;
  if (row === undefined) throw new Error('the store gave no id for a new animal');
  return row.id;
}
