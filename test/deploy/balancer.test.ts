import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { expectErrorBody } from '../support/expect-error.ts';
import { amplePlan, elementAt, startInstances } from '../support/instances.ts';
import { startNginx, whyNoNginx } from '../support/nginx.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer()) || (await whyNoNginx());

const freePerMinute = 60;
/** After two failed requests, the workers of nginx know together that an instance is down. */
const triesMax = 3;

/** Sends a request without a key from `localAddress`. */
async function askFrom(localAddress: string, url: string, headers: Record<string, string> = {}) {
  const asking = request(`${url}/v1/pets`, { localAddress, headers });
  asking.end();
  const [response] = await once(asking, 'response');
  const body = (await json(response)) as { code: string };
  return { status: response.statusCode as number, headers: response.headers, code: body.code };
}

test('three instances behind nginx with the shipped configuration', { skip }, async (t) => {
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, {
    postgres,
    redisUrl,
    settings: { TRUST_PROXY: '127.0.0.1', LOG_REQUESTS: 'all' },
  });
  const { key } = await instances.createKey(...amplePlan);
  const { url } = await startNginx(
    t,
    instances.services.map((service) => new URL(service.url).port),
  );
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const list = () => fetch(`${url}/v1/pets`, { headers });
  const add = (idempotencyKey: string) =>
    fetch(`${url}/v1/pets`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': idempotencyKey },
      body: '{"name":"Rex","categoryId":1}',
    });

  await t.test('each instance gets a part of the requests', async () => {
    const responses = await Promise.all(Array.from({ length: 60 }, list));
    for (const { status } of responses) assert.equal(status, 200);
    for (const { readLog } of instances.services) assert.match(readLog(), /"path":"\/v1\/pets"/);
  });

  await t.test('a client is counted by its real address, even if it sends X-Forwarded-For', async () => {
    const statuses = [];
    for (let place = 0; place <= freePerMinute; place += 1) {
      const { status, code } = await askFrom('127.0.0.2', url, { 'x-forwarded-for': `203.0.113.${place}` });
      statuses.push(status);
      if (status === 401) assert.equal(code, 'api_key_missing');
    }
    assert.deepEqual(statuses, [...Array(freePerMinute).fill(401), 429]);
    const other = await askFrom('127.0.0.3', url);
    assert.equal(other.status, 401);
    assert.equal(other.headers['x-ratelimit-remaining'], String(freePerMinute - 1));
    const logs = instances.services.map(({ readLog }) => readLog()).join('');
    assert.match(logs, /"address":"127\.0\.0\.2"/);
    assert.doesNotMatch(logs, /203\.0\.113\./);
  });

  await t.test('a request that nginx itself refuses gets an Error body', async () => {
    const large = await fetch(`${url}/v1/pets`, { method: 'POST', headers, body: 'x'.repeat(2 * 2 ** 20) });
    await expectErrorBody(large, 413, 'payload_too_large');
    for (const own of ['/_unavailable', '/_not_found'])
      await expectErrorBody(await fetch(`${url}${own}`), 404, 'not_found');
  });

  await t.test('the other instances answer all requests after one is killed', async () => {
    elementAt(instances.services, 0).child.kill('SIGKILL');
    for (let place = 0; place < 60; place += 1) {
      assert.equal((await list()).status, 200);
      let added = await add(`key-${place}`);
      for (let tries = 1; added.status !== 201; tries += 1) {
        assert.ok(tries < triesMax, 'nginx goes on sending to the dead instance');
        await expectErrorBody(added, 503, 'unavailable');
        added = await add(`key-${place}`);
      }
    }
    const rows = await instances.store.execute('select id from pets');
    assert.equal(rows.length, 60);
  });
});
