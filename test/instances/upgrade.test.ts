import assert from 'node:assert/strict';
import { findPostgres } from '../support/engines.ts';
import { add, ask, readJson, send } from '../support/instances.ts';
import { type ServiceProcess, serveInProcess, until } from '../support/processes.ts';
import { testsUnless } from '../support/programs.ts';
import { startReceiver } from '../support/receiver.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { findPreviousRelease, installCommit } from '../support/releases.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip || (await whyNoRedisServer()));

/** Far above a second, for a busy machine. */
const visibleMsMax = 20_000;

interface Pet {
  readonly id: number;
  readonly name: string;
}

/** Changes the store at one instance, and reads each change at the other one. */
async function requireShared(writer: ServiceProcess, reader: ServiceProcess, key: string, name: string) {
  const added = await add(writer, key, name, name);
  assert.equal(added.status, 201);
  const { id } = await readJson<Pet>(added);
  const again = await add(reader, key, name, name);
  assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true']);
  assert.equal((await readJson<Pet>(again)).id, id);
  const [newest] = await readJson<Pet[]>(ask(reader, key, '/pets?limit=1'));
  assert.equal(newest?.id, id);

  assert.equal((await send(writer, key, `PATCH /pets/${id}`, { name: `${name}!` })).status, 200);
  assert.equal((await readJson<Pet>(ask(reader, key, `/pets/${id}`))).name, `${name}!`);
  const named = await send(writer, key, 'PUT /categories/1', { name });
  assert.equal(named.status, name === 'old' ? 201 : 200);
  assert.deepEqual(await readJson(ask(reader, key, '/categories')), [{ id: 1, name }]);

  const order = await send(writer, key, 'POST /orders', { petId: id });
  assert.equal(order.status, 201);
  assert.equal((await send(reader, key, 'POST /orders', { petId: id })).status, 409);
  const { id: orderId } = await readJson<Pet>(order);
  assert.equal((await send(reader, key, `POST /orders/${orderId}/complete`)).status, 200);
  const { status } = await readJson<{ status: string }>(ask(writer, key, `/orders/${orderId}`));
  assert.equal(status, 'completed');

  const [left, right] = [await ask(writer, key), await ask(reader, key)].map(({ headers }) =>
    Number(headers.get('x-ratelimit-remaining')),
  );
  assert.equal(right, (left ?? 0) - 1);
}

test('this release and the one before it serve one store together with the same content', async (t) => {
  const previous = findPreviousRelease();
  t.diagnostic(`the release before this one: ${previous}`);
  const { url } = await postgres.createEmptyStore(t);
  const redis = await startRedisServer(t);
  const settings = { ENVIRONMENT: 'development', DATABASE_URL: url, REDIS_URL: redis.url };
  const older = await serveInProcess(t, { settings, program: await installCommit(t, previous) });
  const key = older.key ?? assert.fail();
  assert.equal((await add(older, key, 'first')).status, 201);
  // This start migrates the store, if its schema is newer.
  const newer = await serveInProcess(t, { settings });
  const receiver = await startReceiver(t);
  assert.equal((await send(older, key, 'POST /webhooks', { url: receiver.url })).status, 201);
  await requireShared(older, newer, key, 'old');
  await requireShared(newer, older, key, 'new');

  const read = (service: ServiceProcess) =>
    readJson<{ id: string; type: string }[]>(ask(service, key, '/events?limit=100'));
  // The newest events get their positions within a second.
  const isWhole = (listed: readonly { type: string }[]) =>
    listed.filter(({ type }) => type === 'order.completed').length === 2;
  const events = await until(() => read(newer), isWhole, visibleMsMax);
  assert.deepEqual(await read(older), events);
  const [, ...sent] = events.map(({ id }) => id);
  await receiver.untilReceived(sent.length);
  assert.deepEqual(receiver.listIds(), sent);

  // Each instance has sold one of the animals that it added.
  for (const service of [newer, older]) {
    const { available, pending, sold } = await readJson<Record<string, number>>(
      ask(service, key, '/store/inventory'),
    );
    assert.deepEqual([available, pending, sold], [1, 0, 2]);
  }

  const [webhook] = await readJson<{ id: string }[]>(ask(older, key, '/webhooks'));
  for (const service of [newer, older])
    assert.equal((await send(service, key, `POST /webhooks/${webhook?.id}/ping`)).status, 202);

  assert.equal((await older.end('SIGTERM')).code, 0);
  assert.doesNotMatch(older.readLog(), /DatabaseError/);
  assert.equal((await add(newer, key, 'last')).status, 201);
});
