import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchangeRaw } from '../support/raw-http.ts';
import { startService, startWithKey, type TestService } from '../support/service.ts';

async function readMetrics({ app }: TestService): Promise<string> {
  const response = await fetch(`${app.opsUrl}/metrics`);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return response.text();
}

/** Returns the value of a series. `series` is its name with labels, without `animal_store_`. Returns 0 if it is absent. */
function readValue(metrics: string, series: string): number {
  const line = metrics.split('\n').find((candidate) => candidate.startsWith(`animal_store_${series} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

test('requests are counted and measured by the pattern of their route and by their status', async (t) => {
  const { service, key } = await startWithKey(t);
  for (const body of [{ name: 'Rex', categoryId: 1 }, { name: 'Rex' }]) await service.post(key, body);
  for (const path of ['/pets/1', '/pets/1?a=b', '/pets/2', '/pets/abc']) await service.request(key, path);
  await service.request(null, '/pets');
  await service.send(key, 'HEAD /pets');

  const metrics = await readMetrics(service);
  for (const [route, status, count] of [
    ['POST /v1/pets', 201, 1],
    ['POST /v1/pets', 400, 1],
    ['GET /v1/pets/:petId', 200, 2],
    ['GET /v1/pets/:petId', 404, 2],
    ['GET /v1/pets', 401, 1],
    ['HEAD /v1/pets', 200, 1],
  ] as const) {
    const labels = `route="${route}",status="${status}"`;
    assert.equal(readValue(metrics, `requests_total{${labels}}`), count);
    assert.equal(readValue(metrics, `request_duration_seconds_bucket{${labels},le="+Inf"}`), count);
    assert.ok(readValue(metrics, `request_duration_seconds_sum{${labels}}`) > 0);
  }
});

test('a preflight of an address that cannot be decoded is measured like any other', async (t) => {
  const origin = 'https://app.example.com';
  const service = await startService(t, { CORS_ORIGINS: origin, LOG_REQUESTS: 'errors' });
  const headers = { origin, 'access-control-request-method': 'GET' };
  for (const line of ['OPTIONS /pets/%', 'OPTIONS /nothing'])
    assert.equal((await service.send(null, line, undefined, headers)).status, 204);

  const metrics = await readMetrics(service);
  const labels = 'route="none",status="204"';
  assert.equal(readValue(metrics, `request_duration_seconds_count{${labels}}`), 2);
  assert.ok(readValue(metrics, `request_duration_seconds_sum{${labels}}`) > 0);
  assert.doesNotMatch(service.readLog(), /OPTIONS/);
});

test('cached answers are counted like all others, for every spelling of an address', async (t) => {
  const { service, key } = await startWithKey(t, { LOG_REQUESTS: 'errors' });
  await service.post(key, { name: 'Rex', categoryId: 1 });
  for (const path of ['/pets', '/%70ets', '/pets/1', '/%70ets/1'])
    for (let request = 1; request <= 5; request += 1) await service.request(key, path);

  const metrics = await readMetrics(service);
  assert.equal(readValue(metrics, 'requests_total{route="GET /v1/pets",status="200"}'), 10);
  assert.equal(readValue(metrics, 'requests_total{route="GET /v1/pets/:petId",status="200"}'), 10);
  assert.equal(readValue(metrics, 'cached_answers_total{source="memory"}'), 16);
  assert.equal(readValue(metrics, 'cached_answers_total{source="store"}'), 4);
});

test('no request can add a label value', async (t) => {
  const { service, key } = await startWithKey(t);
  const { app, baseUrl, request } = service;
  for (const path of ['/dogs', '/pets/1/2', '/%00', '/pets/"}\\', '/%zz', '/Pets', `/${'a'.repeat(5_000)}`])
    await request(key, path);
  for (const method of ['PUT', 'OPTIONS', 'PROPFIND', 'PATCH']) await request(key, '/pets', { method });
  await fetch(`${app.url}/.env`);
  await exchangeRaw(t, baseUrl, 'BREW /pets"} HTCPCP/1.0\r\n\r\n');

  const metrics = await readMetrics(service);
  const routes = new Set(Array.from(metrics.matchAll(/ ?route="([^"]*)"/g), ([, route]) => route));
  assert.deepEqual([...routes].sort(), ['malformed', 'none']);
  assert.equal(readValue(metrics, 'requests_total{route="none",status="405"}'), 4);
  assert.equal(readValue(metrics, 'requests_total{route="malformed",status="400"}'), 1);
});

test('the metrics count the verdicts of the rate limits and the bans of each plan', async (t) => {
  const { service, key: free } = await startWithKey(t, {}, 'free');
  for (let request = 1; request <= 130; request += 1) await service.request(free, '/pets');
  await service.request(await service.createKey('business'), '/pets');
  await service.request(await service.createKey('enterprise', { perMinute: 60, perDay: 1_000 }), '/pets');
  await service.request(null, '/pets');
  const ofPro = await service.createKey('pro', undefined, { account: 'Own limits' });
  await service.store.accounts.setLimits('Own limits', { perMinute: 7 });
  await service.request(ofPro, '/pets');

  const metrics = await readMetrics(service);
  for (const [plan, passed, refused, banned] of [
    ['free', 60, 60, 10],
    ['pro', 1, 0, 0],
    ['business', 1, 0, 0],
    ['enterprise', 1, 0, 0],
    ['none', 1, 0, 0],
  ] as const)
    for (const [verdict, count] of Object.entries({ passed, refused, banned }))
      assert.equal(readValue(metrics, `limit_verdicts_total{plan="${plan}",verdict="${verdict}"}`), count);
  assert.equal(readValue(metrics, 'bans_begun_total{plan="free"}'), 1);
});
