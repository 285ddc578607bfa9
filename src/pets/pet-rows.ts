import { type RawBuilder, type Selectable, sql } from 'kysely';
import { byFilters, type Steps, statement, step, type Value } from '../storage/database.ts';
import type { ByEngine } from '../storage/dialect.ts';
import type { PageRange } from '../storage/read-page.ts';
import type { Tables } from '../storage/tables.ts';
import { findByStart } from '../storage/text-start.ts';
import {
  type Pet,
  type PetField,
  type PetPatch,
  type PetStatus,
  petColumns,
  petFields,
  petStatuses,
} from './pet.ts';

/** The columns of an animal that its readers see. */
export const shownColumns = ['id', ...petFields.map((field) => petColumns[field])] as const;

/** A row with `shownColumns`. */
export type PetRow = Pick<Selectable<Tables['pets']>, 'id' | (typeof petColumns)[PetField]>;

/**
 * Converts a row into an animal with its fields in the documented order. A field whose column is null is absent, as is
 * a field whose column did not exist yet when an event stored the row.
 */
export function toPet(row: PetRow): Pet {
  const pet: Record<string, Value> = { id: row.id };
  for (const field of petFields) {
    const value: Value = row[petColumns[field]] ?? null;
    if (value !== null) pet[field] = value;
  }
  return pet as unknown as Pet;
}

/** The values of an animal as parameters, by field. An absent field is null. */
export type PetValues = Record<PetField, Value>;

/** Returns the fields that a patch names, in the documented order. */
export function listNamed(patch: PetPatch): PetField[] {
  return petFields.filter((field) => patch[field] !== undefined);
}

/** Converts the fields of an animal or of a patch into parameters. Ignores unknown fields. */
export function toValues(fields: PetPatch): PetValues {
  const values = petFields.map((field) => [field, (fields[field] as Value | undefined) ?? null]);
  return Object.fromEntries(values) as PetValues;
}

/** Selects the `count` oldest animals with an id above `afterId`, oldest first. */
export const selectOldest = statement((query, p: { afterId: bigint; count: bigint }) =>
  query
    .selectFrom('pets')
    .select(shownColumns)
    .where('id', '>', p.afterId)
    .orderBy('id', 'asc')
    .limit(p.count),
);

/** Selects one animal. */
export const selectPet = statement((query, p: { id: bigint }) =>
  query.selectFrom('pets').select(shownColumns).where('id', '=', p.id),
);

/** Number of the newest animals among which a search finds names. */
export const namesMax = 1_000_000;

/**
 * Selects `count` of the `namesMax` newest animals whose name begins with `start`, in any case, newest first. It reads their
 * names, because an index would cost each change of an animal more than a rare search is worth.
 */
export const selectPetsByStart = statement((query, p: { start: string; count: bigint }, { engine }) => {
  const { where } = findByStart(engine, 'name', p.start);
  const newest = query.selectFrom('pets').select(shownColumns).orderBy('id', 'desc').limit(sql.lit(namesMax));
  return query.selectFrom(newest.as('newest')).selectAll().where(where).orderBy('id', 'desc').limit(p.count);
});

/** The filters of a page of animals besides the status. `ids` is a JSON array. */
type PetFilter = { readonly categoryId: bigint; readonly ids: string };

/** The status is a literal, so that PostgreSQL uses the partial index for this status. */
const declarePage = (status: PetStatus | null) =>
  byFilters(['categoryId', 'ids'], (query, p: PetFilter & PageRange, set, dialect) => {
    const animals = query.selectFrom('pets').select(shownColumns);
    const ofStatus = sql<boolean>`${status === null ? sql`true` : sql`status = ${sql.lit(status)}`}`;
    if (set.ids)
      return query
        .with(
          (cte) => cte('named').materialized(),
          () => animals.where(dialect.isAmong('id', p.ids)),
        )
        .selectFrom('named')
        .select(shownColumns)
        .where('id', '<=', p.newestId)
        .where(ofStatus)
        .$if(set.categoryId, (named) => named.where('category_id', '=', p.categoryId))
        .orderBy('id', 'desc')
        .limit(p.count);
    if (!set.categoryId)
      return animals.where('id', '<=', p.newestId).where(ofStatus).orderBy('id', 'desc').limit(p.count);
    // Merges the pages of the three statuses, so that a category needs no index of its own.
    const { where, orderBy } = dialect.keyset([['category_id', sql`${p.categoryId}`]], p.newestId);
    const [first, ...others] = (status === null ? petStatuses : [status]).map((one) => {
      const page = animals.where(isExactly[dialect.engine](one)).where(where).orderBy(orderBy).limit(p.count);
      return query.selectFrom(page.as(one)).select(shownColumns);
    });
    if (first === undefined) throw new Error('petStatuses is empty');
    const pages = others.reduce((union, page) => union.unionAll(page), first);
    return query.selectFrom(pages.as('pets')).select(shownColumns).orderBy('id', 'desc').limit(p.count);
  });

/** True for the animals of a status. On PostgreSQL, it matches the indexes by category and not those by status alone. */
const isExactly: ByEngine<(status: PetStatus) => RawBuilder<boolean>> = {
  sqlite: (status) => sql`status = ${sql.lit(status)}`,
  postgres: (status) => sql`status >= ${sql.lit(status)} and status <= ${sql.lit(status)}`,
};

const anyPage = declarePage(null);
const pagesOf = Object.fromEntries(petStatuses.map((status) => [status, declarePage(status)]));

/**
 * Selects a page of the animals of a status or of all, newest first. Its cost depends neither on the depth nor on the
 * filters. With ids, it reads all of these animals, which are few, before it applies the other filters.
 */
export const selectPage = (status: PetStatus | null = null) => (status && pagesOf[status]) || anyPage;

/**
 * Adds an animal and returns its id. Ids increase and are never reused. The trigger `pets_added` records the event, and
 * `pets_counted` counts the animal; on PostgreSQL `append_pets_added` and `count_pets_added`.
 */
export const insertPet = statement((query, p: PetValues) =>
  query
    .insertInto('pets')
    .values({
      ...Object.fromEntries(petFields.map((field) => [petColumns[field], p[field]])),
      is_owned: sql<bigint>`0`,
    } as never)
    .returning('id'),
);

/** Part of a transaction. Adds an animal and returns its id. */
export function* addPet(pet: Omit<Pet, 'id'>): Steps<bigint> {
  return insertedId(yield* step(insertPet, toValues(pet)));
}

/** The id from the result of `insertPet`. */
export function insertedId(rows: readonly { id: bigint }[]): bigint {
  const [row] = rows;
  if (row === undefined) throw new Error('the store gave no id for a new animal');
  return row.id;
}

/** Selects an animal and whether an order owns it, and locks the row until the transaction ends. */
export const lockPet = statement((query, p: { id: bigint }, { lockRows }) =>
  query
    .selectFrom('pets')
    .select([...shownColumns, 'is_owned'])
    .where('id', '=', p.id)
    .modifyEnd(lockRows),
);

const declareUpdate = (fields: readonly PetField[]) =>
  statement((query, p: PetValues & { id: bigint }) =>
    query
      .updateTable('pets')
      .set(Object.fromEntries(fields.map((field) => [petColumns[field], p[field]])) as never)
      .where('id', '=', p.id)
      .returning(shownColumns),
  );

const updates = new Map<string, ReturnType<typeof declareUpdate>>();

/**
 * Returns the statement that sets these fields, at least one; null removes a field. Each combination of fields has its
 * own, because SQLite rewrites every index that contains a column in `set`.
 *
 * If a value changes, the trigger `pets_updated` records the event `pet.updated`. `pets_recounted` counts a new category, and `pets_moved` a
 * new status in the same category. On PostgreSQL, `append_pets_updated` and `count_pets_updated` append to tables, from which
 * jobs move the event to the feed (`sequence-events.ts`) and the counts to the totals (`inventory.ts`). The triggers stand in
 * `storage/schema.sqlite.sql` and `storage/schema.postgres.sql`.
 */
export function updatePet(fields: readonly PetField[]) {
  const name = fields.join();
  const known = updates.get(name) ?? declareUpdate(fields);
  updates.set(name, known);
  return known;
}

/**
 * Sets the status of an animal and whether an order owns it (0 or 1), as a step of its order requires. The triggers are those
 * of `updatePet`.
 */
export const setPetState = statement((query, p: { petId: bigint; status: string; isOwned: bigint }) =>
  query.updateTable('pets').set({ status: p.status, is_owned: p.isOwned }).where('id', '=', p.petId),
);

/**
 * Deletes an animal and returns it. The trigger `pets_deleted` records the event, and `pets_discounted` counts; on PostgreSQL
 * `append_pets_deleted` and `count_pets_deleted`.
 */
export const deletePet = statement((query, p: { id: bigint }) =>
  query.deleteFrom('pets').where('id', '=', p.id).returning(shownColumns),
);
