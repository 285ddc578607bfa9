import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { removeEvents } from '../../bench/store.ts';
import { makeFolder, startService } from '../support/service.ts';

test('a store without events counts, adds and orders animals, and writes no event', async (t) => {
  const file = join(await makeFolder(t), 'store.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  const first = await startService(t, settings);
  await first.app.close();
  removeEvents(file);
  const { baseUrl, createKey } = await startService(t, settings);
  const headers = { authorization: `Bearer ${await createKey()}`, 'content-type': 'application/json' };
  const post = (path: string, body: string) => fetch(baseUrl + path, { method: 'POST', headers, body });
  assert.equal((await post('/pets', '{"name":"Rex","categoryId":1}')).status, 201);
  assert.equal((await post('/orders', '{"petId":1}')).status, 201);
  const database = new DatabaseSync(file, { readOnly: true });
  t.after(() => database.close());
  assert.deepEqual({ ...database.prepare('select count(*) as events from events').get() }, { events: 0 });
  assert.deepEqual(
    { ...database.prepare('select * from inventory_by_category').get() },
    {
      category_id: 1,
      available: 0,
      pending: 1,
      sold: 0,
    },
  );
});
