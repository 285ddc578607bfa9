import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { exchangeRaw, formatRequest } from '../../support/raw-http.ts';
import { startService, type TestService } from '../../support/service.ts';

/** Sends a request with `forwarded` as X-Forwarded-For. Returns the remaining requests of the address. */
async function remaining(service: TestService, forwarded: string | null): Promise<number> {
  const headers = forwarded === null ? {} : { 'x-forwarded-for': forwarded };
  const response = await service.request(null, '/pets', { headers });
  return Number(response.headers.get('x-ratelimit-remaining'));
}

const direct = await startService({ after });
const behindOne = await startService({ after }, { TRUST_PROXY: '1', LOG_REQUESTS: 'all' });
const behindTwo = await startService({ after }, { TRUST_PROXY: '2' });
const behindListed = await startService({ after }, { TRUST_PROXY: '127.0.0.0/8, 10.0.0.1' });
const behindOthers = await startService({ after }, { TRUST_PROXY: '10.0.0.1' });

test('without TRUST_PROXY X-Forwarded-For is ignored', async () => {
  assert.equal(await remaining(direct, null), 59);
  assert.equal(await remaining(direct, '203.0.113.1'), 58);
  assert.equal(await remaining(direct, '203.0.113.2, 203.0.113.3'), 57);
});

test('behind one proxy the client address is the address that the proxy saw', async () => {
  assert.equal(await remaining(behindOne, '203.0.113.1'), 59);
  assert.equal(await remaining(behindOne, '203.0.113.1'), 58);
  assert.equal(await remaining(behindOne, '203.0.113.2'), 59);
});

test('behind one proxy an address that the client itself sent is ignored', async () => {
  const real = '203.0.113.10';
  assert.equal(await remaining(behindOne, real), 59);
  assert.equal(await remaining(behindOne, `203.0.113.77, ${real}`), 58);
  assert.equal(await remaining(behindOne, `127.0.0.1, 10.0.0.1,${real}`), 57);
  assert.equal(await remaining(behindOne, `garbage, ${real}`), 56);
});

test('behind one proxy two X-Forwarded-For headers are read as one list', async (t) => {
  const real = '203.0.113.20';
  const text = formatRequest('GET /v1/pets', {
    'x-forwarded-for': '203.0.113.78',
    'X-Forwarded-For': real,
  });
  await exchangeRaw(t, behindOne.baseUrl, text);
  assert.equal(await remaining(behindOne, real), 58);
});

test('behind two proxies the client address is the address that the outer proxy saw', async () => {
  const real = '203.0.113.30';
  assert.equal(await remaining(behindTwo, `${real}, 10.0.0.1`), 59);
  assert.equal(await remaining(behindTwo, `203.0.113.79, ${real}, 10.0.0.1`), 58);
  assert.equal(await remaining(behindTwo, `${real}, 10.0.0.2`), 57);
});

test('behind listed proxies the client address is the rightmost address that is not listed', async () => {
  const real = '203.0.113.40';
  assert.equal(await remaining(behindListed, real), 59);
  assert.equal(await remaining(behindListed, `${real}, 10.0.0.1`), 58);
  assert.equal(await remaining(behindListed, `203.0.113.80, ${real}, 10.0.0.1, 127.0.0.9`), 57);
});

test('a listed proxy is recognized if its address has a port', async () => {
  const real = '203.0.113.41';
  assert.equal(await remaining(behindListed, real), 59);
  assert.equal(await remaining(behindListed, `${real}, 10.0.0.1:8080`), 58);
  assert.equal(await remaining(behindListed, `${real}, [::ffff:10.0.0.1]:8080`), 57);
});

test('a peer that is not listed is not trusted', async () => {
  assert.equal(await remaining(behindOthers, '203.0.113.50'), 59);
  assert.equal(await remaining(behindOthers, '203.0.113.51'), 58);
});

test('a request counts for the proxy if it forwards no address, and all invalid addresses count as one', async () => {
  assert.equal(await remaining(behindOne, null), 59);
  assert.equal(await remaining(behindOne, 'unknown'), 59);
  assert.equal(await remaining(behindOne, '_hidden'), 58);
});

test('IPv6 addresses behind a proxy are counted by /64, IPv4-mapped ones as IPv4', async () => {
  assert.equal(await remaining(behindOne, '2001:db8:1:2::1'), 59);
  assert.equal(await remaining(behindOne, '2001:DB8:1:2:ffff::9'), 58);
  assert.equal(await remaining(behindOne, '2001:db8:1:3::1'), 59);
  assert.equal(await remaining(behindOne, '[2001:db8:1:3::2]'), 58);
  assert.equal(await remaining(behindOne, '203.0.113.60'), 59);
  assert.equal(await remaining(behindOne, '::ffff:203.0.113.60'), 58);
});

test('the log has the same client address that the limits count', async () => {
  await remaining(behindOne, '203.0.113.66');
  assert.match(behindOne.readLog(), /"address":"203\.0\.113\.66"/);
});
