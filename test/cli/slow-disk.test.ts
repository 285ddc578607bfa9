import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { buildSlowDisk, type SlowDisk } from '../../torture/storage/slow-disk.ts';
import { serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

/** Starts a service with animals on a disk whose fsync can block. Skips the test if no C compiler is available. */
async function startOnSlowDisk(t: TestContext) {
  const folder = await makeFolder(t);
  const disk = buildSlowDisk(folder);
  if ('problem' in disk) {
    process.stderr.write(`\nSKIPPED: ${disk.problem}\n`);
    t.skip(disk.problem);
    return null;
  }
  const service = await serveInProcess(t, {
    settings: {
      DATABASE_URL: `sqlite:${join(folder, 'store.db')}`,
      ENVIRONMENT: 'development',
      ...disk.settings,
    },
  });
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' };
  const get = async (path: string) => {
    const response = await fetch(`${service.url}${path}`, { headers });
    return { status: response.status, body: await response.text() };
  };
  const post = async (name: string) => {
    const body = JSON.stringify({ name, categoryId: 1 });
    return (await fetch(`${service.url}/pets`, { method: 'POST', headers, body })).status;
  };
  for (const name of ['Rex', 'Bo', 'Max']) assert.equal(await post(name), 201);
  return { service, disk, get, post };
}

/** Blocks a write in its fsync. `status` of the result is the status of the answer, or null until it arrives. */
async function holdWrite(disk: SlowDisk, post: (name: string) => Promise<number>) {
  disk.hold();
  const write: { status: number | null; readonly answered: Promise<unknown> } = {
    status: null,
    answered: post('held')
      .then((status) => {
        write.status = status;
      })
      .catch(() => undefined),
  };
  await disk.untilInSync();
  return write;
}

test('cached and uncached reads are answered while a commit waits for fsync', async (t) => {
  const started = await startOnSlowDisk(t);
  if (started === null) return;
  const { disk, get, post } = started;
  assert.equal((await get('/pets?limit=2')).status, 200);
  const write = await holdWrite(disk, post);
  for (const path of ['/pets?limit=2', '/pets?limit=1&status=available', '/pets/1', '/pets/3'])
    assert.equal((await get(path)).status, 200);
  assert.equal(write.status, null);
  disk.delay(0);
  await write.answered;
  assert.equal(write.status, 201);
});

test('reads do not return a change before it is durable', async (t) => {
  const started = await startOnSlowDisk(t);
  if (started === null) return;
  const { disk, get, post } = started;
  const write = await holdWrite(disk, post);
  assert.equal((await get('/pets/4')).status, 404);
  assert.doesNotMatch((await get('/pets')).body, /held/);
  disk.delay(0);
  await write.answered;
  assert.equal((await get('/pets/4')).status, 200);
  assert.match((await get('/pets')).body, /held/);
});

test('a hanging disk blocks neither the health check nor a stop by SIGTERM', async (t) => {
  const started = await startOnSlowDisk(t);
  if (started === null) return;
  const { service, disk, get, post } = started;
  const write = await holdWrite(disk, post);
  assert.equal((await fetch(`${service.opsUrl}/healthz`)).status, 200);
  assert.equal((await get('/pets')).status, 200);
  const { code, signal } = await service.end('SIGTERM');
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  await write.answered;
  assert.equal(write.status, null);
});

test('writers on a disk with an fsync of 100 ms share commits, and reads are answered meanwhile', async (t) => {
  const started = await startOnSlowDisk(t);
  if (started === null) return;
  const { disk, get, post } = started;
  disk.delay(100);
  const writes = Array.from({ length: 40 }, (_, index) => post(`slow ${index}`));
  let reads = 0;
  const all = Promise.all(writes);
  let isDone = false;
  void all.then(() => {
    isDone = true;
  });
  await disk.untilInSync();
  do {
    assert.equal((await get('/pets/1')).status, 200);
    reads += 1;
    await pause(0);
  } while (!isDone);
  assert.deepEqual(new Set(await all), new Set([201]));
  assert.ok(reads > 0);
});
