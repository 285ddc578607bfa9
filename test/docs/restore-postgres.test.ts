import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFeed } from '../../src/events/feed.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import { petValues } from '../support/catalogue.ts';
import { findPostgres } from '../support/engines.ts';
import { findBlocks, readDocument } from './markdown.ts';

const postgres = await findPostgres();
const reader = { accountId: 0n, seesPets: true, seesOrders: 'all' } as const;

test('after a restore, the SQL of the guide skips the ids and positions that came after the backup', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const database = await store.open();
  const feed = createFeed(database, Date.now);
  async function add(): Promise<bigint> {
    const [row] = await database.run(
      insertPet,
      petValues({ name: 'Rex', categoryId: 1n, status: 'available' }),
    );
    await sequenceEvents(database);
    return row?.id ?? 0n;
  }
  await add();
  const lost = await add();
  const { next } = await feed.read({ start: 'now', limit: 1 }, reader);

  // The store of the backup, which has only the first animal and its event.
  await store.execute(`delete from pets where id = ${lost}; delete from event_outbox;
    delete from events where id >= ${next}; select setval('pets_id_seq', 1), setval('events_id_seq', 1)`);
  const guide = await readDocument('docs/operations/backup-and-restore.md');
  const [sql = assert.fail()] = findBlocks(guide).filter(({ info }) => info === 'sql');
  await store.execute(sql.code);

  await assert.rejects(async () => feed.read({ start: next, limit: 1 }, reader), { code: 'events_expired' });
  assert.ok((await add()) > lost);
  await assert.rejects(async () => feed.read({ start: next, limit: 1 }, reader), { code: 'events_expired' });
  const { events } = await feed.read({ start: 'oldest', limit: 100 }, reader);
  assert.equal(events.length, 2);
  assert.ok((events[1]?.id ?? 0n) > next);
});
