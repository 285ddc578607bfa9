import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { startService } from '../support/service.ts';

const postgres = await findPostgres();
const page = join(import.meta.dirname, '../../docs/operations/backup-and-restore.md');

test('the documented SQL makes a restored PostgreSQL store skip ids and answer earlier event positions with 410', {
  skip: postgres.skip,
}, async (t) => {
  const [, sql = ''] = /^```sql\n(.*?)^```$/ms.exec(await readFile(page, 'utf8')) ?? [];
  const { url, execute } = await postgres.createStore(t);
  const before = await startService(t, { DATABASE_URL: url });
  const key = await before.createKey();
  await before.post(key, { name: 'before', categoryId: 1 });
  const ofEvents = '/events?wait=5';
  const [{ id: position } = { id: '' }] = (await (await before.request(key, ofEvents)).json()) as {
    id: string;
  }[];
  await before.stop();
  await execute(sql);
  const after = await startService(t, { DATABASE_URL: url });
  assert.equal((await after.request(key, `/events?after=${position}`)).status, 410);
  const added = (await (await after.post(key, { name: 'after', categoryId: 1 })).json()) as { id: number };
  assert.ok(added.id > 1_000_000);
  const events = (await (await after.request(key, ofEvents)).json()) as { data: { id: number } }[];
  assert.deepEqual(
    events.map(({ data }) => data.id),
    [added.id],
  );
});
