import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Scope, scopes } from '../../../../src/accounts/account.ts';
import { expectError } from '../../../support/expect-error.ts';
import { until } from '../../../support/processes.ts';
import { nextOf, startWithKey } from '../../../support/service.ts';

const { service, key: partner } = await startWithKey({ after });
const manager = await service.createKey('pro', undefined, { scopes });

type Shown = { readonly id: number; readonly status: string };

async function addPet(): Promise<number> {
  const response = await service.post(partner, { name: 'Rex', categoryId: 1 });
  return ((await response.json()) as Shown).id;
}

const place = (key: string, body: unknown, headers?: Record<string, string>) =>
  service.send(key, 'POST /orders', body, headers);

const act = (key: string, id: number | string, action: string, body?: string) =>
  service.send(key, `POST /orders/${id}/${action}`, body);

async function read<T = Shown>(response: Response | Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

const statusOf = async (petId: number) => (await read(service.request(partner, `/pets/${petId}`))).status;
const countOrders = async () => (await read<Shown[]>(service.request(manager, '/orders?limit=100'))).length;

test('GET returns a new order with the same ETag at its Location', async () => {
  const petId = await addPet();
  const response = await place(partner, { petId, reference: 'A-1', unknown: true });
  assert.equal(response.status, 201);
  const body = await response.text();
  const { id } = JSON.parse(body) as Shown;
  assert.equal(response.headers.get('location'), `/v1/orders/${id}`);
  const got = await service.request(partner, `/orders/${id}`);
  assert.equal(await got.text(), body);
  assert.equal(response.headers.get('etag'), got.headers.get('etag'));
});

test('the answer right after a change of an order has the new status of the animal', async () => {
  const petId = await addPet();
  assert.equal(await statusOf(petId), 'available');
  const { id } = await read(place(partner, { petId }));
  assert.equal(await statusOf(petId), 'pending');
  await act(partner, id, 'complete');
  assert.equal(await statusOf(petId), 'sold');
  await act(manager, id, 'return');
  assert.equal(await statusOf(petId), 'pending');
});

test('an order with a wrong type or an out-of-range value in any field is refused and writes nothing', async () => {
  const petId = await addPet();
  const before = await countOrders();
  const wrong = {
    petId: ['null', '"1"', '1.5', '1e400', '9223372036854775808', 'true', '[]'],
    holdSeconds: ['null', '"900"', '59', '60.5', '604801', '86401', '-900', '1e9', '{}'],
    reference: ['null', '1', '""', '" "', '"\\u0000"', '"\\ud800"', `"${'a'.repeat(256)}"`],
  };
  const bodies = Object.entries(wrong).flatMap(([field, values]) =>
    values.map((value) => `{"petId":${petId},"${field}":${value}}`),
  );
  for (const body of bodies) await expectError(await place(partner, body), 400, 'invalid_body');
  assert.equal(await countOrders(), before);
});

test('the scope determines the maximum length of a hold', async () => {
  for (const [key, holdSeconds] of [
    [partner, 60],
    [partner, 86_400],
    [manager, 604_800],
  ] as const) {
    const placed = place(key, { petId: await addPet(), holdSeconds });
    const order = await read<Record<'createdAt' | 'expiresAt', string>>(placed);
    assert.match(order.expiresAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(Date.parse(order.expiresAt) - Date.parse(order.createdAt), holdSeconds * 1_000);
  }
  const body = `{"petId":${await addPet()},"holdSeconds":9e1}`;
  assert.equal((await place(partner, body)).status, 201);
});

test('refused requests get the documented codes', async () => {
  await expectError(await place(partner, { petId: 0 }), 404, 'not_found');
  const petId = await addPet();
  const { id } = await read(place(partner, { petId }));
  await expectError(await place(partner, { petId }), 409, 'pet_unavailable');
  assert.equal((await act(partner, id, 'cancel')).status, 200);
  assert.equal((await act(partner, id, 'cancel')).status, 200);
  await expectError(await act(partner, id, 'complete'), 409, 'order_closed');
  await expectError(await act(manager, id, 'return'), 409, 'order_closed');
  for (const name of '0 007 1.0 abc 9223372036854775808 -1'.split(' ')) {
    await expectError(await service.request(partner, `/orders/${name}`), 404, 'not_found');
    await expectError(await act(partner, name, 'cancel'), 404, 'not_found');
  }
});

test('each operation requires its scope or orders:manage', async () => {
  const keyOf = (...own: Scope[]) => service.createKey('pro', undefined, { scopes: own });
  const reading = await keyOf('orders:read');
  const writing = await keyOf('orders:write');
  const managing = await keyOf('orders:manage');
  const { id } = await read(place(managing, { petId: await addPet() }));
  for (const path of ['/orders', `/orders/${id}`]) {
    assert.equal((await service.request(reading, path)).status, path === '/orders' ? 200 : 404);
    assert.equal((await service.request(managing, path)).status, 200);
    await expectError(await service.request(writing, path), 403, 'scope_missing');
  }
  await expectError(await place(reading, { petId: 1 }), 403, 'scope_missing');
  await expectError(await act(reading, id, 'cancel'), 403, 'scope_missing');
  await expectError(await act(writing, id, 'return'), 403, 'scope_missing');
  assert.equal((await act(managing, id, 'complete', '{"status":')).status, 200);
  assert.equal((await act(managing, id, 'return')).status, 200);
});

/** Places three orders with the same reference, and one other. Returns the first page of the three. */
async function listByReference() {
  const key = await service.createKey();
  const references = ['A&B', 'ü 1', 'A&B', 'A&B'];
  for (const reference of references) await place(key, { petId: await addPet(), reference });
  const path = `/orders?limit=2&status=reserved&reference=${encodeURIComponent('A&B')}`;
  const first = await service.request(key, path);
  return { key, first, next: nextOf(first) ?? '' };
}

test('the pages of a filtered list have each order once', async () => {
  const { key, first, next } = await listByReference();
  assert.equal((await read<Shown[]>(first)).length, 2);
  const second = await service.request(key, next);
  assert.equal((await read<Shown[]>(second)).length, 1);
  assert.equal(second.headers.get('link'), null);
});

test('a cursor of a list of orders is refused for other lists', async () => {
  const { key, next } = await listByReference();
  const cursor = new URLSearchParams(next.split('?')[1]).get('cursor');
  const refused = async (by: string, of: string) =>
    expectError(await service.request(by, of), 400, 'invalid_parameter');
  for (const other of ['', '&status=reserved', '&status=reserved&reference=A', `&petId=1`])
    await refused(key, `/orders?cursor=${cursor}${other}`);
  for (const by of [await service.createKey(), manager]) await refused(by, next);
});

test('a retry with the same Idempotency-Key gets the first answer byte for byte', async () => {
  const petId = await addPet();
  const headers = { 'idempotency-key': 'order-1' };
  const first = await place(partner, { petId }, headers);
  const body = await first.text();
  await act(partner, (JSON.parse(body) as Shown).id, 'complete');
  const again = await place(partner, { petId }, headers);
  assert.equal(await again.text(), body);
  assert.equal(first.headers.get('idempotent-replayed'), null);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  for (const name of ['location', 'etag']) assert.equal(again.headers.get(name), first.headers.get(name));
  assert.equal(again.status, 201);
});

test('the Idempotency-Key of an order is refused for another body or operation', async () => {
  const petId = await addPet();
  const headers = { 'idempotency-key': 'order-2' };
  assert.equal((await place(partner, { petId }, headers)).status, 201);
  await expectError(await place(partner, { petId, holdSeconds: 60 }, headers), 422, 'idempotency_key_reused');
  const both = { petId, name: 'Rex', categoryId: 1 };
  await expectError(await service.post(partner, both, headers), 422, 'idempotency_key_reused');
});

test('an animal becomes available without a request when its hold expires', async () => {
  const petId = await addPet();
  const { id } = await read(place(partner, { petId }));
  const file = service.openFile();
  file.exec(`update orders set expires_at_ms = created_at_ms where id = ${id}`);
  assert.equal((await read(service.request(partner, `/orders/${id}`))).status, 'expired');
  const isAvailable = async () => (await statusOf(petId)) === 'available';
  await until(isAvailable, Boolean, 10_000);
  await expectError(await act(partner, id, 'complete'), 409, 'order_expired');
});

test('in development, a hold may last a second', async (t) => {
  const { service: own, key } = await startWithKey(t, { ENVIRONMENT: 'development' });
  const { id } = (await (await own.post(key, { name: 'Rex', categoryId: 1 })).json()) as { id: number };
  const refused = await own.send(key, 'POST /orders', { petId: id, holdSeconds: 0 });
  assert.match(await refused.text(), /holdSeconds must be an integer from 1 to 604800/);
  assert.equal((await own.send(key, 'POST /orders', { petId: id, holdSeconds: 1 })).status, 201);
  const description = (await (await fetch(`${own.app.url}/openapi.json`)).json()) as {
    components: { schemas: { NewOrder: { properties: { holdSeconds: { minimum: number } } } } };
  };
  assert.equal(description.components.schemas.NewOrder.properties.holdSeconds.minimum, 1);
});
