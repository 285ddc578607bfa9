import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { everything } from '../../src/events/event-reader.ts';
import { createFeed } from '../../src/events/feed.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { makeFolder } from '../support/service.ts';

test('a request that waits for events beyond the bound is refused, and a stopped feed ends every wait', async (t) => {
  const database = await openDatabase(`sqlite:${join(await makeFolder(t), 'store.db')}`);
  t.after(() => database.close());
  const feed = createFeed(database, () => 0, 2);
  const options = { seconds: 20, keyId: 'key_1', onGone: () => undefined, noteHeld: () => undefined };
  const wait = () => feed.readOrWait({ start: 'now', limit: 1 }, everything, options);
  const waits = [wait(), wait()];
  while (feed.countWaiting() < 2) await new Promise(setImmediate);
  const message = 'too many requests are waiting for events; try again';
  await assert.rejects(wait(), { code: 'unavailable', message });
  feed.stopWaiting();
  for (const waiting of [...waits, wait()]) assert.deepEqual((await waiting).events, []);
  assert.equal(feed.countWaiting(), 0);
});
