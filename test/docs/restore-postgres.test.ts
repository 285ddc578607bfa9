import assert from 'node:assert/strict';
import { everything } from '../../src/events/event-reader.ts';
import { readFeed } from '../../src/events/feed.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import { petValues } from '../support/catalogue.ts';
import { findPostgres } from '../support/engines.ts';
import { testsUnless } from '../support/programs.ts';
import { findBlocks, readDocument } from './markdown.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);

test('after a restore, the SQL of the guide skips the ids and positions that came after the backup', async (t) => {
  const store = await postgres.createStore(t);
  const database = await store.open();
  async function add(): Promise<bigint> {
    const [row] = await database.run(insertPet, petValues());
    await sequenceEvents(database);
    return row?.id ?? 0n;
  }
  await add();
  const lost = await add();
  const { next } = await readFeed(database, { start: 'now', limit: 1 }, everything);
  const expectLost = () =>
    assert.rejects(readFeed(database, { start: next, limit: 1 }, everything), { code: 'events_expired' });

  // The store of the backup, which has only the first animal and its event.
  await store.execute(`delete from pets where id = ${lost}; delete from event_outbox;
    delete from events where id >= ${next}; select setval('pets_id_seq', 1), setval('events_id_seq', 1)`);
  const guide = await readDocument('docs/operations/backup-and-restore.md');
  const [sql = assert.fail()] = findBlocks(guide).filter(({ info }) => info === 'sql');
  await store.execute(sql.code);

  await expectLost();
  assert.ok((await add()) > lost);
  await expectLost();
  const { events } = await readFeed(database, { start: 'oldest', limit: 100 }, everything);
  assert.equal(events.length, 2);
  assert.ok((events[1]?.id ?? 0n) > next);
});
