import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { type Description, expectDescribed } from '../../test/http/openapi/description.ts';
import { amplePlan } from '../../test/support/instances.ts';
import type { Scenario } from '../scenario.ts';
import { startTarget } from '../target.ts';
import { requireInvariants } from './invariants.ts';

const requestsAtFullScale = 20_000;
const animals = 40;
const lanes = 8;

/** A request to one of the operations of orders. */
interface OrderRequest {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly key: number;
  readonly idempotencyKey: string | null;
  readonly isStrict: boolean;
}

const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constantFrom('A-1', 'B 2', '🐈', ''));
const id = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 150 }).map(String) },
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  text,
);
const anything = fc.oneof(fc.jsonValue(), fc.constant(null), fc.integer());

const newOrder = fc.record(
  {
    petId: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 1, max: animals + 2 }) }, anything),
    holdSeconds: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 50, max: 90_000 }) }, anything),
    reference: fc.oneof({ weight: 4, arbitrary: text }, anything),
    other: anything,
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  { weight: 9, arbitrary: newOrder.map((order) => JSON.stringify(order)) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: animals }).map((petId) => JSON.stringify({ petId })) },
  text,
);

const query = fc
  .array(
    fc.tuple(
      fc.constantFrom('status', 'petId', 'reference', 'limit', 'cursor', 'x'),
      fc.oneof(fc.constantFrom('reserved', 'expired', 'completed', '1', '20', '007'), text),
    ),
    { maxLength: 3 },
  )
  .map((parts) =>
    parts.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&'),
  );

const rest = {
  key: fc.nat(2),
  idempotencyKey: fc.option(
    fc.integer({ min: 1, max: 50 }).map((n) => `key-${n}`),
    { freq: 3 },
  ),
  isStrict: fc.boolean(),
};

const inPath = (value: string) => encodeURIComponent(value.toWellFormed()) || '0';

const requests: fc.Arbitrary<OrderRequest> = fc.oneof(
  fc
    .record({ ...rest, body })
    .map((one) => ({ ...one, operation: 'placeOrder', method: 'POST', path: '/orders' })),
  fc.record({ ...rest, query }).map((one) => ({
    ...one,
    operation: 'listOrders',
    method: 'GET',
    path: `/orders?${one.query}`,
    body: null,
  })),
  fc.record({ ...rest, id }).map((one) => ({
    ...one,
    operation: 'getOrder',
    method: 'GET',
    path: `/orders/${inPath(one.id)}`,
    body: null,
  })),
  fc
    .record({ ...rest, id, action: fc.constantFrom('complete', 'cancel', 'cancel', 'return', 'return') })
    .map(({ action, ...one }) => ({
      ...one,
      operation: `${action}Order`,
      method: 'POST',
      path: `/orders/${inPath(one.id)}/${action}`,
      body: null,
    })),
);

/** Requests to the operations of orders, valid, nearly valid and invalid, at once; some holds end meanwhile. */
export const fuzzOrders: Scenario = {
  name: 'orders-fuzz',
  title: 'requests to the operations of orders are made up, and holds end meanwhile',
  minutes: 6,
  async run(context) {
    const target = await startTarget(context);
    const all = ['--scopes', 'all', ...amplePlan];
    const made = [
      await target.createKey(...all),
      await target.createKey(...amplePlan),
      await target.createKey('--scopes', 'orders:read', ...amplePlan),
    ];
    const keys = made.map(({ key }) => key);
    const description = (await (await fetch(new URL('/openapi.json', target.url))).json()) as Description;
    const statuses = new Map<string, number>();

    async function send(request: OrderRequest): Promise<void> {
      const response = await fetch(target.url + request.path, {
        method: request.method,
        headers: {
          authorization: `Bearer ${keys[request.key]}`,
          'content-type': 'application/json',
          ...(request.idempotencyKey !== null && { 'idempotency-key': request.idempotencyKey }),
          ...(request.isStrict && { prefer: 'handling=strict' }),
        },
        ...(request.body !== null && { body: request.body }),
      });
      const answer = { status: response.status, headers: response.headers, body: await response.text() };
      assert.ok(answer.status < 500, answer.body);
      expectDescribed(description, request.operation, answer);
      const name = `${request.operation} ${answer.status}`;
      statuses.set(name, (statuses.get(name) ?? 0) + 1);
    }

    await fillStore(target.url, keys[0] ?? '');
    const file = new DatabaseSync(target.databaseUrl.replace('sqlite:', ''), { timeout: 10_000 });
    context.after(() => file.close());
    const runs = Math.ceil((requestsAtFullScale * context.scale) / lanes);
    const batch = fc.array(requests, { minLength: lanes, maxLength: lanes });
    const property = fc.asyncProperty(batch, fc.nat(39), async (list, last) => {
      await Promise.all(list.map(send));
      // Staff put back what was returned, so that there is something to sell to the end.
      file.exec(`update pets set status = 'available' where status = 'pending' and is_owned = 0;
        update orders set expires_at_ms = created_at_ms + 1 where status = 'reserved' and id % 40 = ${last}`);
    });
    await fc.assert(property, { seed: context.seed, numRuns: runs, endOnFailure: true });
    await requireInvariants(async (sql) => file.prepare(sql).all() as Record<string, unknown>[]);
    for (const one of [
      'placeOrder 201',
      'placeOrder 409',
      'completeOrder 200',
      'cancelOrder 200',
      'listOrders 200',
    ])
      assert.ok(statuses.has(one), `${one} was never answered`);
    return {
      done: `${runs * lanes} requests to the operations of orders, ${lanes} at once; now and then holds ended`,
      seen: 'No 5xx; each status, header and body as described',
      lost: 'Nothing: each animal had one owner, and inventory and events agreed with it',
      well: 'at once',
      figures: {
        requests: runs * lanes,
        statuses: [...statuses]
          .map((one) => one.join(': '))
          .sort()
          .join(', '),
      },
    };
  },
};

async function fillStore(url: string, key: string): Promise<void> {
  const add = () =>
    fetch(`${url}/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
    }).then((response) => response.text());
  await Promise.all(Array.from({ length: animals }, add));
}
