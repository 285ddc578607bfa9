import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildSlowDisk } from '../../torture/storage/slow-disk.ts';
import { serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

test('reads do not return a change before it is durable', async (t) => {
  const folder = await makeFolder(t);
  const disk = buildSlowDisk(folder);
  if ('problem' in disk) {
    process.stderr.write(`\nSKIPPED: ${disk.problem}\n`);
    t.skip(disk.problem);
    return;
  }
  const DATABASE_URL = `sqlite:${join(folder, 'store.db')}`;
  const settings = { DATABASE_URL, ENVIRONMENT: 'development', ...disk.settings };
  const { url, key } = await serveInProcess(t, { settings });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const list = async () => (await fetch(`${url}/pets`, { headers })).text();
  const get = async () => (await fetch(`${url}/pets/1`, { headers })).status;
  assert.equal(await list(), '[]');
  disk.hold();
  const body = '{"name":"held","categoryId":1}';
  const adding = fetch(`${url}/pets`, { method: 'POST', headers, body });
  await disk.untilInSync();
  assert.deepEqual([await get(), await list()], [404, '[]']);
  disk.delay(0);
  assert.equal((await adding).status, 201);
  assert.equal(await get(), 200);
  assert.match(await list(), /held/);
});
