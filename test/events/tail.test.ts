import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { everything } from '../../src/events/event-reader.ts';
import { createTail, waitingPagesMax } from '../../src/events/tail.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { makeFolder } from '../support/service.ts';

test('a request that waits for events beyond the bound is refused, and a stopped tail ends every wait', async (t) => {
  const database = await openDatabase(`sqlite:${join(await makeFolder(t), 'store.db')}`);
  t.after(() => database.close());
  const tail = createTail(database, () => 0);
  const waiting = { position: 0n, limit: 1, keyId: 'key_1', endsAtMs: Infinity, onGone: () => undefined };
  const wait = async () => tail.wait({ ...waiting, reader: everything });
  const waits = Array.from({ length: waitingPagesMax }, wait);
  const message = 'too many requests are waiting for events; try again';
  await assert.rejects(wait(), { code: 'unavailable', message });
  tail.stop();
  await Promise.all(waits);
});
