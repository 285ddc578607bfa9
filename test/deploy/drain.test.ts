import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostgres } from '../support/engines.ts';
import { amplePlan, startInstances } from '../support/instances.ts';
import { type ServiceProcess, serveInProcess, until } from '../support/processes.ts';
import { findFreePort, startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { makeFolder, startService } from '../support/service.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

async function readReadiness(opsUrl: string) {
  const response = await fetch(`${opsUrl}/readyz`);
  return { status: response.status, body: await response.text() };
}

test('during a drain, /readyz is 503 and requests and connections are served, until it is cut', async (t) => {
  const { app, createKey, baseUrl } = await startService(t, { DRAIN_SECONDS: '3600' });
  const authorization = `Bearer ${await createKey()}`;
  const ask = () => fetch(`${baseUrl}/pets`, { headers: { authorization } });
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

test('in the second half of a drain, each response ends its connection, and connections are taken', async (t) => {
  const { app, createKey, baseUrl } = await startService(t, { DRAIN_SECONDS: '2' });
  const authorization = `Bearer ${await createKey()}`;
  let isOver = false;
  const draining = app.drain(new Promise(() => undefined)).then(() => {
    isOver = true;
  });
  const kinds = new Set<string | null>();
  while (!isOver) {
    const response = await fetch(`${baseUrl}/pets`, { headers: { authorization } });
    assert.equal(response.status, 200);
    kinds.add(response.headers.get('connection'));
  }
  await draining;
  assert.deepEqual([...kinds], ['keep-alive', 'close']);
});

test('a second SIGTERM ends the drain of a service', async (t) => {
  const service = await serveInProcess(t, {
    settings: { DRAIN_SECONDS: '3600', DATABASE_URL: `sqlite:${join(await makeFolder(t), 'store.db')}` },
  });
  service.child.kill('SIGTERM');
  await until(
    () => readReadiness(service.opsUrl),
    ({ status }) => status === 503,
    10_000,
  );
  const { code } = await service.end('SIGTERM');
  assert.equal(code, 0);
});

/** Asks `/readyz` of both instances every 50 ms, and sends each request to one that was ready. */
function createBalancer(instances: ServiceProcess[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const ready = new Set(instances.keys());
  let isOver = false;

  async function watch(place: number): Promise<void> {
    while (!isOver) {
      const opsUrl = instances[place]?.opsUrl;
      const isReady = await readReadiness(`${opsUrl}`).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (isReady) ready.add(place);
      else ready.delete(place);
      await sleep(50);
    }
  }
  const watching = [...instances.keys()].map(watch);

  return {
    ready,
    async ask(key: string, keepsAlive: boolean): Promise<number> {
      const url = instances[[...ready][Math.floor(Math.random() * ready.size)] ?? 0]?.url;
      const headers = { authorization: `Bearer ${key}` };
      const options = keepsAlive ? { headers, agent } : { headers };
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const request = get(`${url}/pets`, options, (response) =>
        text(response).then(() => resolve(response.statusCode ?? 0), reject),
      );
      request.on('error', reject);
      return promise;
    },
    async end() {
      isOver = true;
      agent.destroy();
      await Promise.all(watching);
    },
  };
}

test('rolling restarts behind a balancer that checks /readyz lose no request', { skip }, async (t) => {
  const { url: redisUrl } = await startRedisServer(t);
  const ports = [await findFreePort(), await findFreePort()];
  const settings = { DRAIN_SECONDS: '1' };
  const instances = await startInstances(t, { postgres, redisUrl, count: 0, settings });
  const start = (place: number) =>
    serveInProcess(t, {
      settings: {
        ...settings,
        ENVIRONMENT: 'production',
        DATABASE_URL: instances.store.url,
        REDIS_URL: redisUrl,
        PORT: String(ports[place]),
      },
    });
  const running = [await start(0), await start(1)];
  const { key } = await instances.createKey(...amplePlan);
  const balancer = createBalancer(running);
  let isOver = false;
  let answered = 0;
  async function client(keepsAlive: boolean): Promise<void> {
    while (!isOver) {
      assert.equal(await balancer.ask(key, keepsAlive), 200);
      answered += 1;
      await sleep(5);
    }
  }
  const clients = Array.from({ length: 20 }, (_, index) => client(index < 15));
  for (const place of [0, 1, 0, 1]) {
    const { code } = await (running[place]?.end('SIGTERM') ?? assert.fail());
    assert.equal(code, 0);
    running[place] = await start(place);
    await until(
      async () => balancer.ready.has(place),
      (isReady) => isReady,
      10_000,
    );
  }
  isOver = true;
  await Promise.all(clients);
  await balancer.end();
  t.diagnostic(`${answered} requests were answered`);
});
