import { notFound } from '../../src/errors.ts';
import {
  byFilters,
  type Database,
  lastStep,
  statement,
  step,
  transaction,
} from '../../src/storage/database.ts';

/** The example at the head of src/storage/database.ts, line by line. */
const selectName = statement((query, p: { id: bigint }) =>
  query.selectFrom('pets').select('name').where('id', '=', p.id),
);

const selectNewest = byFilters(['status'], (query, p: { status: string; count: bigint }, set) =>
  query
    .selectFrom('pets')
    .select(['id', 'name'])
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
export async function runExample(database: Pick<Database, 'read' | 'transact'>) {
  const [pet] = await database.read(selectName, { id: 7n });
  const anyStatus = await database.read(selectNewest, { status: null, count: 20n });
  const nameBefore = await database.transact(renamePet, { id: 7n, name: 'Rex' });
  return { pet, anyStatus, nameBefore };
}

export { renamePet };
