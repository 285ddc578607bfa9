import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../../../src/accounts/account.ts';
import { dayMs, minuteMs } from '../../../../src/clock.ts';
import { toTime } from '../../../../src/format.ts';
import { expectError, expectHeaders } from '../../../support/expect-error.ts';
import { startService } from '../../../support/service.ts';

const service = await startService({ after });

async function get(key: string): Promise<Record<string, unknown>> {
  const response = await service.request(key, '/account');
  assert.equal(response.status, 200);
  return (await response.json()) as Record<string, unknown>;
}

test('GET /account returns the plan, the key, the open holds and both windows including this request', async () => {
  const order = { account: 'Acme Zoo', name: 'Till', scopes: ['keys:manage'], lifetimeMs: dayMs } as const;
  const key = await service.createKey('pro', undefined, order);
  const listed = (await service.store.keyring.list()).find(({ account }) => account === 'Acme Zoo');
  const openedAtMs = service.clock.now();
  await get(key);
  service.clock.advance(1_500);
  assert.deepEqual(await get(key), {
    account: 'Acme Zoo',
    plan: 'pro',
    key: { id: listed?.id, name: 'Till', scopes: ['keys:manage'], expiresAt: toTime(openedAtMs + dayMs) },
    minute: { limit: 300, remaining: 298, resetAt: toTime(openedAtMs + minuteMs) },
    day: { limit: 10_000, remaining: 9_998, resetAt: toTime(openedAtMs + dayMs) },
    openHolds: 0,
  });
});

test('GET /account returns the windows of the rate limit headers', async () => {
  const key = await service.createKey('enterprise', { perMinute: 5, perDay: 7 });
  const response = await service.request(key, '/account');
  assert.equal(response.status, 200);
  const account = (await response.json()) as { readonly minute: { readonly resetAt: string } };
  const windows = { minute: { limit: 5, remaining: 4 }, day: { limit: 7, remaining: 6 } };
  assert.partialDeepStrictEqual(account, windows);
  assert.equal(response.headers.get('x-ratelimit-remaining'), '4');
  const reset = Number(response.headers.get('x-ratelimit-reset'));
  assert.equal(reset, Math.ceil(Date.parse(account.minute.resetAt) / 1_000));
});

test('an answer to GET /account is never stored, even with If-None-Match', async () => {
  const key = await service.createKey();
  const response = await service.request(key, '/account', { headers: { 'if-none-match': '*' } });
  assert.equal(response.status, 200);
  expectHeaders(response, { etag: null, 'cache-control': 'no-store' });
  const head = await service.request(key, '/account', { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
});

test('GET /account counts open holds, also for keys with orders:manage', async () => {
  const key = await service.createKey('pro', undefined, { scopes });
  const place = async () => {
    const { headers } = await service.post(key, { name: 'Rex', categoryId: 1 });
    const petId = headers.get('location')?.split('/').at(-1);
    return service.send(key, 'POST /orders', `{"petId":${petId}}`);
  };
  const first = (await (await place()).json()) as { id: number };
  await place();
  assert.equal((await get(key))['openHolds'], 2);
  await service.request(key, `/orders/${first.id}/cancel`, { method: 'POST' });
  assert.equal((await get(key))['openHolds'], 1);
});

test('a suspended account gets 403 from every operation until it is resumed', async () => {
  const key = await service.createKey('free', undefined, { account: 'Paws', scopes });
  await service.store.accounts.suspend('Paws');
  for (const path of ['/account', '/pets', '/nothing', '/pets?limit=0', '/keys']) {
    const response = await service.request(key, path);
    assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    await expectError(response, 403, 'account_suspended');
  }
  await service.store.accounts.resume('Paws');
  service.clock.advance(1_000);
  assert.partialDeepStrictEqual((await get(key))['minute'], { limit: 60, remaining: 54 });
});
