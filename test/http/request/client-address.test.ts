import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { exchangeRaw, formatRequest } from '../../support/raw-http.ts';
import { startService, type TestService } from '../../support/service.ts';

const start = (TRUST_PROXY: string) => startService({ after }, { TRUST_PROXY, LOG_REQUESTS: 'all' });
const services = {
  'without TRUST_PROXY': await startService({ after }),
  'behind one proxy': await start('1'),
  'behind two proxies': await start('2'),
  'behind listed proxies': await start('127.0.0.0/8, 10.0.0.1'),
  'behind proxies of which the peer is none': await start('10.0.0.1'),
};

/** Sends a request with `forwarded` as X-Forwarded-For. Returns the remaining requests of the address. */
async function remaining(service: TestService, forwarded: string | null): Promise<number> {
  const headers = forwarded === null ? {} : { 'x-forwarded-for': forwarded };
  const response = await service.request(null, '/pets', { headers });
  return Number(response.headers.get('x-ratelimit-remaining'));
}

/** Values of X-Forwarded-For that stand for one client address each, in the order in which they are sent. */
const sameClient: readonly [place: keyof typeof services, what: string, ...values: (string | null)[]][] = [
  ['without TRUST_PROXY', 'the header is ignored', null, '203.0.113.1', '203.0.113.2, 203.0.113.3'],
  ['behind one proxy', 'the client is what the proxy saw', '203.0.113.1', '203.0.113.1'],
  ['behind one proxy', 'another client has its own count', '203.0.113.2'],
  [
    'behind one proxy',
    'an address that the client itself sent is ignored',
    '203.0.113.10',
    '203.0.113.77, 203.0.113.10',
    '127.0.0.1, 10.0.0.1,203.0.113.10',
    'garbage, 203.0.113.10',
  ],
  ['behind one proxy', 'a request without the header counts for the proxy', null],
  ['behind one proxy', 'all invalid addresses count as one', 'unknown', '_hidden'],
  ['behind one proxy', 'IPv6 is counted by /64', '2001:db8:1:2::1', '2001:DB8:1:2:ffff::9'],
  ['behind one proxy', 'IPv6 may be in brackets', '2001:db8:1:3::1', '[2001:db8:1:3::2]'],
  ['behind one proxy', 'IPv4-mapped IPv6 is IPv4', '203.0.113.60', '::ffff:203.0.113.60'],
  [
    'behind two proxies',
    'the client is what the outer proxy saw',
    '203.0.113.30, 10.0.0.1',
    '203.0.113.79, 203.0.113.30, 10.0.0.1',
    '203.0.113.30, 10.0.0.2',
  ],
  [
    'behind listed proxies',
    'the client is the rightmost address that is not listed',
    '203.0.113.40',
    '203.0.113.40, 10.0.0.1',
    '203.0.113.80, 203.0.113.40, 10.0.0.1, 127.0.0.9',
  ],
  [
    'behind listed proxies',
    'a listed proxy may have a port',
    '203.0.113.41',
    '203.0.113.41, 10.0.0.1:8080',
    '203.0.113.41, [::ffff:10.0.0.1]:8080',
  ],
  ['behind proxies of which the peer is none', 'the peer is the client', '203.0.113.50', '203.0.113.51'],
];
for (const [place, what, ...values] of sameClient)
  test(`${place} ${what}`, async () => {
    for (const [index, value] of values.entries())
      assert.equal(await remaining(services[place], value), 59 - index, String(value));
  });

test('two X-Forwarded-For headers are read as one list by the limits and the log', async (t) => {
  const service = services['behind one proxy'];
  const real = '203.0.113.20';
  const headers = { 'x-forwarded-for': '203.0.113.78', 'X-Forwarded-For': real };
  await exchangeRaw(t, service.baseUrl, formatRequest('GET /v1/pets', headers));
  assert.equal(await remaining(service, real), 58);
  assert.match(service.readLog(), /"address":"203\.0\.113\.20"/);
});
