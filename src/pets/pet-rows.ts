import { sql } from 'kysely';
import { insertion, statement, step, type Work } from '../storage/database.ts';
import type { Pet, PetStatus } from './pet.ts';

/** A run of all animals, oldest first, of those whose id is above `afterId`: for the export. */
export const selectOldest = statement<{ afterId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('pets')
    .select(['id', 'name', 'category_id', 'status'])
    .where('id', '>', p.afterId)
    .orderBy('id', 'asc')
    .limit(p.count),
);

/** The animal of an id, in one row or none. */
export const selectPet = statement<{ id: bigint }>()((query, p) =>
  query.selectFrom('pets').select(['id', 'name', 'category_id', 'status']).where('id', '=', p.id),
);

const notOwned = sql<bigint>`0`;

/** Adds an animal and gives the id that it was assigned, which grows and is never used again. */
export const insertPet = insertion<{ name: string; categoryId: bigint; status: string }>()((query, rows) =>
  query
    .insertInto('pets')
    .values(
      rows.map((p) => ({ name: p.name, category_id: p.categoryId, status: p.status, is_owned: notOwned })),
    )
    .returning('id'),
);

/** Inside a work: adds an animal and gives its id. */
export function* addPet(pet: Omit<Pet, 'id'>): Work<bigint> {
  return insertedId(yield* step(insertPet, pet));
}

/** The events of changed and deleted animals, along an index of theirs. */
const isEdit = sql<boolean>`pet_id is not null and type <> 'pet.added'`;

/** What there is, in two numbers: the newest id, and the newest event of an edit; null if there is none. */
export const selectStamp = statement<Record<never, never>>()((query) =>
  query.selectNoFrom(({ selectFrom }) => [
    selectFrom('pets').select('id').orderBy('id', 'desc').limit(sql.lit(1)).as('newest_id'),
    selectFrom('events').select('id').where(isEdit).orderBy('id', 'desc').limit(sql.lit(1)).as('newest_edit'),
  ]),
);

/** For SQLite: the edits whose events come after `after`, the newest first. */
export const selectEditsAfter = statement<{ after: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('events')
    .select([
      'id',
      sql<bigint>`pet_id`.as('pet_id'),
      sql<string>`data ->> 'status'`.as('status'),
      sql<string>`coalesce(previous, data) ->> 'status'`.as('former_status'),
      sql<bigint>`data ->> 'category_id'`.as('category_id'),
      sql<bigint>`coalesce(previous, data) ->> 'category_id'`.as('former_category_id'),
    ])
    .where(isEdit)
    .where('id', '>', p.after)
    .orderBy('id', 'desc')
    .limit(p.count),
);

/** An animal as its row holds it. */
export interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly category_id: bigint;
  readonly status: string;
}

/** An animal as its row holds it, its fields in the documented order. */
export function toPet({ id, name, category_id, status }: PetRow): Pet {
  return { id, name, categoryId: category_id, status: status as PetStatus };
}

/** The id that the store has given to a new animal. */
export function insertedId(rows: readonly { id: bigint }[]): bigint {
  const [row] = rows;
  if (row === undefined) throw new Error('the store gave no id for a new animal');
  return row.id;
}
