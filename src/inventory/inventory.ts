import { sql } from 'kysely';
import { type PetStatus, petStatuses } from '../pets/pet.ts';
import { countField, namedObject, timeField } from '../schema.ts';
import { byFilters, type Database, statement } from '../storage/database.ts';

const countFields = Object.fromEntries(
  petStatuses.map((status) => [status, countField(`How many animals are ${status}.`)]),
) as Record<PetStatus, ReturnType<typeof countField>>;

/** The inventory, as responses show it. */
export const InventorySchema = namedObject('Inventory', 'How many animals are in stock.', {
  ...countFields,
  asOf: timeField('When the numbers were counted, by the clock of the store.'),
});

/** Number of animals of each status. */
export interface Inventory extends Readonly<Record<PetStatus, bigint>> {
  /** The time of the count in Unix milliseconds, by the store's clock. */
  readonly asOfMs: number;
}

/** The sum of the counts of each status. */
export const sums = petStatuses.map((status) =>
  sql<bigint>`cast(coalesce(sum(${sql.ref(status)}), 0) as bigint)`.as(status),
);

type CategoryFilter = { readonly categoryId: bigint | null };
type CountedRow = Readonly<Record<PetStatus | 'as_of_ms', bigint>>;

/**
 * Selects the inventory of all animals or of a category, in one row. Sums the totals and the changes that are not added
 * to them yet.
 */
const selectInventory = byFilters<'categoryId', CategoryFilter, CountedRow>((isSet) =>
  statement<CategoryFilter>()((query, p, { nowMs }) => {
    const counts = sql.raw(petStatuses.join());
    const totals = sql.table(isSet('categoryId') ? 'inventory_by_category' : 'inventory_totals');
    const ofCategory = isSet('categoryId') ? sql`where category_id = ${p.categoryId}` : sql``;
    return query
      .selectFrom(
        sql<Record<PetStatus, bigint>>`(select ${counts} from ${totals} ${ofCategory}
          union all select ${counts} from inventory_changes ${ofCategory})`.as('counts'),
      )
      .select([...sums, nowMs.as('as_of_ms')]);
  }),
);

/**
 * Counts all animals, or the animals of a category. The cost does not depend on the size of the catalogue. Sees
 * everything committed before the call. Throws as the database does (database.ts).
 */
export type CountInventory = (categoryId: bigint | null) => Promise<Inventory>;

export function createInventory(database: Database): CountInventory {
  return async (categoryId) => {
    const [row] = await database.read(selectInventory({ categoryId }), { categoryId });
    if (row === undefined) throw new Error('the store returned no inventory');
    const { as_of_ms, ...counts } = row;
    return { ...counts, asOfMs: Number(as_of_ms) };
  };
}
