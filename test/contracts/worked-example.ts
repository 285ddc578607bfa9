import { notFound } from '../../src/errors.ts';
import {
  byFilters,
  type Database,
  lastStep,
  statement,
  step,
  transaction,
} from '../../src/storage/database.ts';
import { type PageRange, readPage } from '../../src/storage/read-page.ts';

/** The example at the head of src/storage/database.ts, line by line. */
const selectName = statement((query, p: { id: bigint }) =>
  query.selectFrom('pets').select('name').where('id', '=', p.id),
);

const selectNewest = byFilters(['status'], (query, p: { status: string } & PageRange, set) =>
  query
    .selectFrom('pets')
    .select(['id', 'name'])
    .where('id', '<=', p.newestId)
    .$if(set.status, (pets) => pets.where('status', '=', p.status))
    .orderBy('id', 'desc')
    .limit(p.count),
);

const lockName = statement((query, p: { id: bigint }, { lockRows }) =>
  query.selectFrom('pets').select('name').where('id', '=', p.id).modifyEnd(lockRows),
);
const updateName = statement((query, p: { id: bigint; name: string }) =>
  query.updateTable('pets').set({ name: p.name }).where('id', '=', p.id),
);
const renamePet = transaction('renamePet', 'row locks', function* (wanted: { id: bigint; name: string }) {
  const [pet] = yield* step(lockName, { id: wanted.id });
  if (pet === undefined) throw notFound('petId', 'animal');
  yield* lastStep(updateName, wanted);
  return pet.name;
});

/** Runs the example on a store that has the animals 1 to 7. */
export async function runExample(database: Database) {
  const [pet] = await database.read(selectName, { id: 7n });
  const page = await readPage(database, selectNewest, { status: 'sold', limit: 5 }, ({ name }) => name);
  const nameBefore = await database.transact(renamePet, { id: 7n, name: 'Rex' });
  return { pet, page, nameBefore };
}

export { renamePet };
