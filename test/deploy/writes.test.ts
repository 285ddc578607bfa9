import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

test('the service leaves files only in the folder of its database, and none in the home, cache or temporary folder', async (t) => {
  const folder = await makeFolder(t);
  const [data, home] = [join(folder, 'data'), join(folder, 'home')];
  await Promise.all([mkdir(data), mkdir(home)]);
  const settings = {
    ENVIRONMENT: 'development',
    DATABASE_URL: `sqlite:${join(data, 'store.db')}`,
    HOME: home,
    TMPDIR: home,
    XDG_CACHE_HOME: home,
  };
  const service = await serveInProcess(t, { settings });
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
  const body = '{"name":"Rex","categoryId":1}';
  assert.equal((await fetch(`${service.url}/pets`, { method: 'POST', headers, body })).status, 201);
  const { origin } = new URL(service.url);
  for (const address of [
    `${service.url}/pets`,
    `${origin}/docs`,
    `${origin}/openapi.json`,
    `${service.opsUrl}/metrics`,
  ])
    assert.equal((await fetch(address, { headers })).status, 200, address);
  for (const file of await readdir(data)) assert.match(file, /^store\.db/);
  const { code } = await service.end('SIGTERM');
  assert.equal(code, 0);
  assert.deepEqual(await readdir(home), []);
  assert.deepEqual((await readdir(folder)).sort(), ['data', 'home']);
});
