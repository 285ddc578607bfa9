import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveInProcess, until } from '../support/processes.ts';
import { startService } from '../support/service.ts';

async function readReadiness(opsUrl: string) {
  const response = await fetch(`${opsUrl}/readyz`);
  return { status: response.status, body: await response.text() };
}

test('during a drain, /readyz is 503 and requests and connections are served, until it is cut', async (t) => {
  const { app, createKey, request } = await startService(t, { DRAIN_SECONDS: '3600' });
  const key = await createKey();
  const ask = () => request(key, '/pets');
  const cut = Promise.withResolvers<void>();
  const draining = app.drain(cut.promise);
  const { status, body } = await readReadiness(app.opsUrl);
  assert.equal(status, 503);
  assert.match(body, /"reason":"the service is stopping"/);
  for (let sent = 0; sent < 3; sent += 1) {
    const response = await ask();
    assert.deepEqual([response.status, response.headers.get('connection')], [200, 'keep-alive']);
  }
  cut.resolve();
  await draining;
  await app.close();
  await assert.rejects(ask());
});

test('the second half of a drain ends each connection with its response but still takes new ones', async (t) => {
  const { app, createKey, request } = await startService(t, { DRAIN_SECONDS: '2' });
  const key = await createKey();
  let isOver = false;
  const draining = app.drain(new Promise(() => undefined)).then(() => {
    isOver = true;
  });
  const kinds = new Set<string | null>();
  while (!isOver) {
    const response = await request(key, '/pets');
    assert.equal(response.status, 200);
    kinds.add(response.headers.get('connection'));
  }
  await draining;
  assert.deepEqual([...kinds], ['keep-alive', 'close']);
});

test('a second SIGTERM ends the drain of a service', async (t) => {
  const service = await serveInProcess(t, { settings: { DRAIN_SECONDS: '3600' } });
  service.child.kill('SIGTERM');
  const isDraining = async () => (await readReadiness(service.opsUrl)).status === 503;
  await until(isDraining, Boolean, 10_000);
  assert.equal((await service.end('SIGTERM')).code, 0);
});
