import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { createAudit } from '../../src/audit/audit-log.ts';
import { createEventIds } from '../../src/events/event-ids.ts';
import type { EventReader } from '../../src/events/event-reader.ts';
import { expireEvents, keptMs } from '../../src/events/expire-events.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { createLease, leaseMs, renewalMs } from '../../src/jobs/lease.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import type { Database, Parameters } from '../../src/storage/database.ts';
import { readSecret } from '../../src/storage/secret-rows.ts';
import { expireAttempts } from '../../src/webhooks/attempt-rows.ts';
import type { DeliveryObserver } from '../../src/webhooks/attempts.ts';
import type { WebhookChange } from '../../src/webhooks/change-webhook.ts';
import { createDeliverer, type DelivererParts } from '../../src/webhooks/deliverer.ts';
import { selectSending } from '../../src/webhooks/delivery-rows.ts';
import { createPostMessage } from '../../src/webhooks/post-message.ts';
import { createNetworks } from '../../src/webhooks/rules/target-address.ts';
import { createSecretBox } from '../../src/webhooks/secrets.ts';
import {
  createOperatorWebhooks,
  createWebhooks,
  type WebhookOrder,
  type WebhookQuery,
} from '../../src/webhooks/webhooks.ts';
import { type Engine, findEngines, type Store } from '../support/engines.ts';
import { type Reaction, startReceiver } from '../support/receiver.ts';
import { eventually } from '../support/redis-server.ts';
import { openShop } from './order-shop.ts';

const ids = createEventIds(Buffer.alloc(32));
const box = createSecretBox([Buffer.alloc(32, 7)]);
const mira = { kind: 'console', name: 'mira in console_1' } as const;
const hourMs = 3_600_000;
/** Time in ms after which an attempt times out. It is long enough for any answer, even on a busy machine. */
const attemptMs = 3_000;

/** Creates the sender of one instance on a store. */
function openSender(
  database: Database,
  { leftMs = () => Number.POSITIVE_INFINITY, ...bounds }: Partial<DelivererParts> = {},
) {
  const noted: string[] = [];
  const observer: DeliveryObserver = {
    onAttempt: (result) => noted.push(result),
    onDisabled: (_, reason) => noted.push(reason),
    onSealed: () => noted.push('sealed'),
    onFault: (_, error) => noted.push(String(error)),
  };
  const post = createPostMessage({ allowed: createNetworks(['127.0.0.1']), allowsHttp: true, attemptMs });
  const parts = { database, ids, box, post, observer, leftMs, mayDisable: async () => true };
  const deliverer = createDeliverer({ ...parts, ...bounds });

  /** Sends all due events and waits for the answers. */
  async function send(): Promise<void> {
    await sequenceEvents(database);
    await deliverer.look();
    await deliverer.untilIdle();
  }
  return { ...deliverer, noted, send };
}

/** Returns a database that calls `before` with the parameters of each statement. */
function intercept(database: Database, before: (parameters: Parameters) => unknown): Database {
  return {
    ...database,
    async read(statement, parameters) {
      await before(parameters);
      return await database.read(statement, parameters);
    },
    async run(statement, parameters) {
      await before(parameters);
      return await database.run(statement, parameters);
    },
  };
}

async function openWorld(t: TestContext, engine: Engine) {
  const shop = await openShop(t, engine);
  const { store, database } = shop;
  const receiver = await startReceiver(t);
  const buyer = await shop.addBuyer();
  const reader: EventReader = { accountId: buyer.accountId, seesPets: true, seesOrders: 'own' };
  const webhooks = createWebhooks(database, ids, box);
  /** Creates the sender of an instance, which stops after the test. */
  const startSender = (parts: Partial<DelivererParts> = {}, on = database) => {
    const opened = openSender(on, parts);
    t.after(() => opened.stop(0));
    return opened;
  };
  const sender = startSender();

  const add = (order: Partial<WebhookOrder> = {}, by = reader) =>
    webhooks.add({ url: receiver.url, types: null, keyId: 'key_1', ...order }, by);

  return {
    ...shop,
    engine,
    receiver,
    buyer,
    reader,
    webhooks,
    startSender,
    sender,
    add,
    get: (id: string) => webhooks.get(id, reader.accountId),
    operator: createOperatorWebhooks(database, Date.now, mira),
    /** Adds animals, and gives their events positions. */
    async publish(count: number): Promise<void> {
      await shop.addPets(count);
      await sequenceEvents(database);
    },
    /** Creates a webhook that gets the event of a new animal, and these answers to its next messages. */
    async begin(...reactions: Reaction[]) {
      const webhook = await add();
      await shop.addPet();
      receiver.reactions.push(...reactions);
      await sender.send();
      return webhook;
    },
    /** Starts what is due. The receiver answers `answered` attempts with 200. Returns its response to the next one. */
    async hold(answered = 0): Promise<ServerResponse> {
      const held = Promise.withResolvers<ServerResponse>();
      receiver.reactions.push(...Array<number>(answered).fill(200), (response) => held.resolve(response));
      await sequenceEvents(database);
      await sender.look();
      return await held.promise;
    },
    change: (id: string, change: WebhookChange, by = reader) => webhooks.change(id, change, by),
    /** Simulates that `ms` have passed, so that waiting webhooks become due. */
    skip: (ms: number) =>
      store.execute(`update webhooks set next_attempt_at_ms = next_attempt_at_ms - ${ms},
        failing_since_ms = failing_since_ms - ${ms}`),
    /** Returns the milliseconds from the last attempt to the next one, from the store. */
    async readWaitMs() {
      const [row] = (await store.execute(
        'select next_attempt_at_ms - last_attempt_at_ms as ms from webhooks',
      )) as { ms: unknown }[];
      return Number(row?.ms);
    },
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** Returns a function that declares a test with a world of its own. */
const testsOn = (engine: Engine) => (title: string, body: (world: World) => Promise<void>) =>
  test(title, async (t) => body(await openWorld(t, engine)));

const typesOf = (bodies: readonly { body: string }[]) => bodies.map(({ body }) => JSON.parse(body).type);

async function* manyPets(count: number) {
  yield Array.from({ length: count }, (_, index) => [`n${index}`, 1n, 'sold', 0n]);
}

async function explain(store: Store, engine: Engine, sql: string): Promise<string> {
  if (engine.name === 'SQLite')
    return (await store.execute(`explain query plan ${sql.replaceAll('?', '1').replaceAll(/:\w+/g, '1')}`))
      .map((row) => String((row as { detail: unknown }).detail))
      .join('\n');
  const rows = await store.execute(`explain ${sql.replaceAll(/\$\d+/g, '1')}`);
  return rows.map((row) => String((row as Record<string, unknown>)['QUERY PLAN'])).join('\n');
}

for (const engine of await findEngines()) {
  const test = testsOn(engine);
  describe(`webhooks on ${engine.name}`, { skip: engine.skip }, () => {
    test('a new webhook starts after the newest event, and gets each later event once, in the order of the feed', async (world) => {
      const { orders, addPet, place, receiver, buyer, sender, add, get, publish } = world;
      assert.equal((await add({ types: ['order.returned'] })).after, null);
      await publish(1);
      const { id, after } = await add();
      assert.equal(after, ids.write(1n));
      const order = await place(buyer, await addPet());
      await orders.close('complete', order.id, buyer);
      await sender.send();
      assert.deepEqual(typesOf(receiver.received), [
        'pet.added',
        'pet.updated',
        'order.reserved',
        'pet.updated',
        'order.completed',
      ]);
      assert.deepEqual(receiver.listIds(), receiver.listIds().toSorted());
      assert.equal(new Set(receiver.listIds()).size, 5);
      const webhook = await get(id);
      assert.equal(webhook.after, receiver.listIds().at(-1));
      assert.equal(webhook.lastAttempt?.result, 204);
      await sender.send();
      assert.equal(receiver.received.length, 5);
    });

    test('a webhook pauses while its account is suspended, and then continues', async (world) => {
      const { store, addPet, receiver, buyer, sender, add } = world;
      await add();
      await store.execute(`update accounts set suspended_at_ms = 1 where id = ${buyer.accountId}`);
      await addPet();
      await sender.send();
      assert.deepEqual(receiver.received, []);
      await store.execute(`update accounts set suspended_at_ms = null where id = ${buyer.accountId}`);
      await sender.send();
      assert.deepEqual(typesOf(receiver.received), ['pet.added']);
    });

    test('a webhook that is 1,200 events behind gets every event of its types once', async (world) => {
      const { store, database, addPet, receiver, sender, add } = world;
      await add({ types: ['pet.deleted'] });
      await database.load('pets', ['name', 'category_id', 'status', 'is_owned'], manyPets(1_200));
      const last = await addPet();
      await store.execute(`delete from pets where id in (1, 700, ${last})`);
      for (let count = 0; count < 5; count += 1) await sender.send();
      assert.deepEqual(typesOf(receiver.received), ['pet.deleted', 'pet.deleted', 'pet.deleted']);
    });

    test('a webhook gets only the orders that the key that created it could read', async (world) => {
      const { reader, addPet, addBuyer, place, receiver, buyer, sender, add } = world;
      const types = ['order.reserved'] as const;
      await add({ types });
      await add({ types }, { ...reader, seesOrders: 'all' });
      await place(await addBuyer(), await addPet(), { reference: 'other' });
      await place(buyer, await addPet(), { reference: 'own' });
      await sender.send();
      const shown = receiver.received.map(({ body }) => JSON.parse(body).data);
      const asText = shown
        .map(({ reference, account }) => `${reference} ${account !== undefined}`)
        .toSorted();
      assert.deepEqual(asText, ['other true', 'own false', 'own true']);
    });

    test('an event that is refused or gets no answer is sent again before all later ones, not before its Retry-After, and a success resets the waits', async (world) => {
      const { addPets, receiver, sender, add, get, skip, readWaitMs } = world;
      const { id } = await add();
      await addPets(2);
      const breakOff = (response: ServerResponse) => void response.destroy();
      const later = { status: 503, headers: { 'retry-after': '90' } };
      receiver.reactions.push(later, 302, breakOff, 503, 429, 400, 200, 500);
      const waits: number[] = [];
      for (let attempt = 0; attempt < 6; attempt += 1) {
        await sender.send();
        await sender.send();
        assert.equal(receiver.received.length, attempt + 1);
        waits.push(await readWaitMs());
        await skip(waits.at(-1) ?? 0);
      }
      assert.equal(waits[0], 90_000);
      const expected = [90, 30, 120, 600, 1_800, 1_800].map((seconds) => seconds * 1_000);
      for (const [index, usual] of expected.entries())
        assert.ok(Math.abs((waits[index] ?? 0) - usual) <= usual / 10, `${waits}`);
      assert.equal((await get(id)).lastAttempt?.result, 400);
      await sender.send();
      const [first, second] = [ids.write(1n), ids.write(2n)];
      assert.deepEqual(receiver.listIds(), [...Array(7).fill(first), second]);
      assert.deepEqual(sender.noted, ['503', '302', 'refused', '503', '429', '400', '200', '500']);
      assert.ok((await readWaitMs()) <= 5_500);
    });

    test('a webhook is disabled after 5 days and 100 attempts without a success, not an hour or an attempt earlier, and not while a clock is unsteady', async (world) => {
      const { store, receiver, get, skip, begin } = world;
      let isSteady = true;
      const sender = world.startSender({ mayDisable: async () => isSteady });
      const { id } = await begin(...Array<number>(5).fill(500));
      for (const [hours, failures, steady, status] of [
        [120, 98, true, 'enabled'],
        [-1, 200, true, 'enabled'],
        [1, 200, false, 'enabled'],
        [0, 200, true, 'disabled'],
      ] as const) {
        isSteady = steady;
        await skip(hours * hourMs);
        await store.execute(`update webhooks set failures = ${failures}, next_attempt_at_ms = 0`);
        await sender.send();
        assert.equal((await get(id)).status, status);
      }
      assert.equal((await get(id)).disabledBecause, 'failing');
      assert.equal(receiver.received.length, 5);
    });

    test('after the clock was set back, a retry is at most an hour away, and the 5 days begin again', async (world) => {
      const { store, receiver, sender, get, skip, begin } = world;
      const { id } = await begin(500, 500, 500);
      await store.execute('update webhooks set failures = 200');
      const setBack = (ms: number) => skip(-ms);
      await setBack(hourMs);
      await sender.send();
      assert.equal(receiver.received.length, 1);
      await setBack(40 * 86_400_000);
      await sender.send();
      assert.equal(receiver.received.length, 2);
      await skip(119 * hourMs);
      await sender.send();
      assert.equal((await get(id)).status, 'enabled');
      assert.equal(receiver.received.length, 3);
      await skip(hourMs);
      receiver.reactions.push(500);
      await sender.send();
      assert.equal((await get(id)).status, 'disabled');
    });

    test('a change of url, status or after makes the next attempt immediate, and a change of types does not', async (world) => {
      const { addPet, receiver, sender, add, change } = world;
      const { id } = await add();
      await addPet();
      const kinds: WebhookChange[] = [{ url: receiver.url }, { status: 'enabled' }, { after: 0n }];
      receiver.reactions.push(500, 500, 500, 500);
      await sender.send();
      await change(id, { types: ['pet.added'] });
      await sender.send();
      assert.equal(receiver.received.length, 1);
      for (const [index, kind] of kinds.entries()) {
        await change(id, kind);
        await sender.send();
        assert.equal(receiver.received.length, index + 2);
      }
    });

    test('a ping is sent once, outside the feed, even if the webhook is disabled or waits for a retry', async (world) => {
      const { receiver, reader, webhooks, sender, get, change, begin } = world;
      const { id } = await begin(500, 503);
      const pingId = await webhooks.ping(id, reader);
      assert.equal(await webhooks.ping(id, reader), pingId);
      await sender.send();
      const { headers, body } = receiver.received[1] ?? assert.fail();
      assert.equal(headers['webhook-id'], pingId);
      assert.match(
        body,
        new RegExp(`^{"id":"${pingId}","type":"webhook.ping","timestamp":"[^"]*Z","data":{}}$`),
      );
      assert.equal((await get(id)).lastAttempt?.result, 503);
      await change(id, { status: 'disabled' });
      await sender.send();
      await webhooks.ping(id, reader);
      await sender.send();
      assert.equal(receiver.received.length, 3);
      assert.equal((await get(id)).lastAttempt?.result, 204);
    });

    test('an event is sent once more on request, even if the webhook is disabled, and its position stays', async (world) => {
      const { addPets, receiver, reader, webhooks, sender, add, get, change } = world;
      const { id } = await add();
      await addPets(2);
      await sender.send();
      await change(id, { status: 'disabled' });
      for (let count = 0; count < 3; count += 1) await webhooks.send(id, ids.write(1n), reader);
      await webhooks.send(id, ids.write(2n), reader);
      await sender.send();
      await sender.send();
      await sender.send();
      assert.deepEqual(receiver.listIds(), [1n, 2n, 1n, 2n].map(ids.write));
      assert.equal(receiver.received[2]?.body, receiver.received[0]?.body);
      const { after, status } = await get(id);
      assert.deepEqual([after, status], [ids.write(2n), 'disabled']);
    });

    test('an event that the webhook may not receive, that never existed or that is deleted is not sent on request', async (world) => {
      const { store, database, add, addPet, place, addBuyer, buyer, reader, webhooks } = world;
      const { id } = await add({ types: ['pet.added', 'order.reserved'] });
      const pet = await addPet();
      await place(await addBuyer(), pet);
      await store.execute(`insert into events (at_ms, type, data) values (1, 'customer.added', '{"id":1}')`);
      await place(buyer, await addPet());
      await sequenceEvents(database);
      const rows = (await store.execute('select id, type from events order by id')) as {
        id: bigint;
        type: string;
      }[];
      const send = (position: bigint) => webhooks.send(id, ids.write(position), reader);
      const tryEach = rows.map(async (row) => {
        const outcome = await send(BigInt(row.id)).then(
          () => 'sent',
          (error) => error.code,
        );
        return `${row.type} ${outcome}`;
      });
      assert.deepEqual((await Promise.all(tryEach)).toSorted(), [
        'customer.added invalid_body',
        'order.reserved invalid_body',
        'order.reserved sent',
        'pet.added sent',
        'pet.added sent',
        'pet.updated invalid_body',
        'pet.updated invalid_body',
      ]);
      for (const unknown of [ids.write(99n), ids.write(0n), 'evt_0000000000000000'])
        await assert.rejects(webhooks.send(id, unknown, reader), { code: 'invalid_body' });
      await store.execute('update event_horizon set deleted_to = 1');
      await assert.rejects(send(1n), { code: 'events_expired' });
      const other = { ...reader, seesOrders: 'none' } as const;
      await assert.rejects(webhooks.send(id, ids.write(2n), other), { code: 'scope_missing' });
      const stranger = { ...reader, accountId: reader.accountId + 1n };
      await assert.rejects(webhooks.send(id, ids.write(2n), stranger), { code: 'not_found' });
    });

    test('at most 100 requested messages of a webhook wait', async (world) => {
      const { store, reader, webhooks, add, publish } = world;
      const { id } = await add();
      await publish(101);
      for (let position = 1n; position <= 99n; position += 1n)
        await webhooks.send(id, ids.write(position), reader);
      await webhooks.ping(id, reader);
      await webhooks.ping(id, reader);
      await webhooks.send(id, ids.write(1n), reader);
      await assert.rejects(webhooks.send(id, ids.write(100n), reader), { code: 'limit_reached' });
      await webhooks.remove(id, reader);
      assert.deepEqual(await store.execute('select id from webhook_requests'), []);
    });

    test('the attempts of a webhook are listed with their results, newest first: the last 100 of 7 days', async (world) => {
      const { store, database, addPet, addPets, receiver, reader, webhooks, sender, add, skip } = world;
      const { id } = await add();
      await addPet();
      receiver.reactions.push(500, (response: ServerResponse) => void response.destroy(), 204, 202);
      for (let count = 0; count < 3; count += 1) {
        await sender.send();
        await skip(60_000);
      }
      const pingId = await webhooks.ping(id, reader);
      await sender.send();
      const list = () => webhooks.listAttempts(id, reader.accountId);
      assert.deepEqual(
        (await list()).map(({ eventId, result }) => [eventId, result]),
        [[pingId, 202], ...[204, 'refused', 500].map((result) => [ids.write(1n), result])],
      );
      for (const { at, durationMs } of await list()) {
        assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
        assert.ok(durationMs >= 0 && durationMs < 60_000);
      }
      await addPets(110);
      await sender.send();
      const newest = await list();
      assert.deepEqual([newest.length, newest[0]?.eventId], [100, ids.write(111n)]);
      assert.equal((await store.execute('select id from webhook_attempts')).length, 100);
      await store.execute(
        `update webhook_attempts set at_ms = at_ms - ${7 * 86_400_000} where id <= ${50 + 14}`,
      );
      const kept = (await list()).length;
      assert.ok(kept > 0 && kept < 100);
      await expireAttempts(database);
      assert.equal((await store.execute('select id from webhook_attempts')).length, kept);
      await assert.rejects(webhooks.listAttempts(id, reader.accountId + 1n), { code: 'not_found' });
    });

    test('a webhook says why it is disabled, keeps its position and continues when it is enabled', async (world) => {
      const { addPet, receiver, sender, add, get, operator, change } = world;
      const { id } = await add();
      const expectReason = async (reason: string | null) => {
        const { status, disabledBecause } = await get(id);
        assert.deepEqual([status, disabledBecause], [reason === null ? 'enabled' : 'disabled', reason]);
      };
      await expectReason(null);
      await change(id, { status: 'disabled' });
      await expectReason('owner');
      await operator.change(id, { status: 'disabled' });
      await expectReason('owner');
      await change(id, { status: 'enabled' });
      await expectReason(null);
      await operator.change(id, { status: 'disabled' });
      await expectReason('operator');
      await operator.change(id, { status: 'enabled' });
      receiver.reactions.push(410);
      for (let sent = 0; sent < 2; sent += 1) {
        await addPet();
        await sender.send();
        await expectReason('gone');
      }
      assert.deepEqual(sender.noted, ['410', 'it answered 410']);
      assert.equal((await operator.readLag()).disabled.gone, 1);
      assert.equal((await get(id)).after, null);
      await change(id, { status: 'enabled' });
      await sender.send();
      assert.deepEqual(receiver.listIds(), [1n, 1n, 2n].map(ids.write));
    });

    test('whatever an attempt throws is a failed attempt, with its wait, and all faults of the store are noted, and not followed by a repetition at once', async (world) => {
      const { database, addPet, receiver, add, get, readWaitMs } = world;
      const { id } = await add();
      await addPet();
      const post = () => Promise.reject(new URIError('URI malformed'));
      const sender = world.startSender({ post });
      await sender.send();
      await sender.send();
      assert.deepEqual(sender.noted, ['URIError: URI malformed', 'refused']);
      assert.equal((await get(id)).lastAttempt?.result, 'refused');
      assert.ok((await readWaitMs()) >= 4_500);

      for (let count = 0; count < 2; count += 1) await add({ types: ['pet.deleted'] });
      await world.store.execute('delete from pets');
      const failing = intercept(database, (parameters) => {
        if ('id' in parameters) throw new Error(`webhook ${parameters['id']}`);
      });
      const unable = world.startSender({}, failing);
      await unable.send();
      assert.deepEqual(unable.noted, ['Error: webhook 2', 'Error: webhook 3']);
      const transact = () => Promise.reject(new Error('a strange failure of the store'));
      const forgetful = world.startSender({}, { ...database, transact });
      for (let look = 0; look < 5; look += 1) {
        await forgetful.look();
        await forgetful.untilIdle();
      }
      assert.equal(receiver.received.length, 2);
    });

    test('the next event is found by an index search for each type, before and after the tables have statistics', async (world) => {
      const { engine, store, publish, reader, add } = world;
      await add({ types: ['category.deleted', 'order.returned'] });
      await publish(3_000);
      await store.execute(`insert into events (at_ms, type, account_id, data)
        select at_ms, 'order.reserved', ${reader.accountId}, data from events`);
      const sql = compileStatement(selectSending, engine.name === 'SQLite' ? 'sqlite' : 'postgres').sql;
      for (let round = 0; round < 2; round += 1) {
        const plan = await explain(store, engine, sql);
        assert.match(plan, /events_by_type/);
        assert.match(plan, /events_by_account_and_type/);
        assert.doesNotMatch(
          plan,
          /Seq Scan on events|SCAN events(?! USING)|Index Scan using events_pkey on events events_/,
        );
        await store.execute('analyze');
      }
    });

    for (const kind of ['ping', 'event'])
      test(`the answer 410 to a late ${kind} does not disable a webhook that was changed during the attempt`, async (world) => {
        const { reader, webhooks, sender, add, get, hold, change, publish } = world;
        const { id } = await add();
        if (kind === 'ping') await webhooks.ping(id, reader);
        else await publish(1);
        for (const status of ['enabled', 'disabled'] as const) {
          const response = await hold();
          await change(id, { status });
          response.writeHead(410).end();
          await sender.untilIdle();
          assert.equal((await get(id)).status, status);
          assert.equal((await get(id)).lastAttempt?.result, 410);
          if (kind === 'ping') await webhooks.ping(id, reader);
        }
        assert.deepEqual(sender.noted, ['410', '410']);
      });

    test('a webhook that a ping has disabled as gone keeps this reason when a late event fails after 5 days', async (world) => {
      const { store, receiver, reader, webhooks, sender, get, hold, skip, begin } = world;
      const { id } = await begin(500);
      await skip(120 * hourMs);
      await store.execute('update webhooks set failures = 200');
      const response = await hold();
      receiver.reactions.push(410);
      await webhooks.ping(id, reader);
      await sender.look();
      await eventually(async () => (await get(id)).disabledBecause === 'gone');
      response.writeHead(500).end();
      await sender.untilIdle();
      const { disabledBecause, lastAttempt } = await get(id);
      assert.deepEqual([disabledBecause, lastAttempt?.result], ['gone', 500]);
      assert.deepEqual(sender.noted.slice(1), ['410', 'it answered 410', '500']);
    });

    test('setting after sends the later events again with the same ids, and a delivery that succeeds later does not undo it', async (world) => {
      const { addPets, receiver, sender, add, hold, change } = world;
      const { id } = await add();
      await addPets(3);
      await sender.send();
      await change(id, { after: 1n });
      await sender.send();
      assert.deepEqual(receiver.listIds(), [1n, 2n, 3n, 2n, 3n].map(ids.write));
      await change(id, { after: 0n });
      assert.equal((await change(id, { after: 'now' })).after, ids.write(3n));
      await sender.send();
      assert.equal(receiver.received.length, 5);
      await assert.rejects(change(id, { after: 4n }), { code: 'invalid_body' });
      await addPets(2);
      const response = await hold(1);
      await change(id, { after: 3n });
      response.end();
      await sender.untilIdle();
      await sender.send();
      assert.deepEqual(receiver.listIds().slice(5), [4n, 5n, 4n, 5n].map(ids.write));
    });

    test('a webhook is disabled if its next or every later event is deleted, and can then be enabled only together with after', async (world) => {
      const { store, database, receiver, sender, add, get, operator, change, publish } = world;
      const { id } = await add();
      const expire = async (last: bigint) => {
        await store.execute(`update events set at_ms = at_ms - ${keptMs + 1_000} where id <= ${last}`);
        await expireEvents(database);
      };
      await publish(3);
      await expire(2n);
      await sender.send();
      assert.equal((await get(id)).status, 'disabled');
      assert.deepEqual(receiver.received, []);
      for (const lost of [{ status: 'enabled' }, { after: 1n }] as const)
        await assert.rejects(change(id, lost), { code: 'position_lost' });
      await assert.rejects(operator.change(id, { status: 'enabled' }), /no longer kept/);
      await change(id, { status: 'enabled', after: 2n });
      await sender.send();
      assert.deepEqual(receiver.listIds(), [ids.write(3n)]);
      await publish(1);
      await expire(4n);
      await sender.send();
      const { status, disabledBecause, after } = await get(id);
      assert.deepEqual([status, disabledBecause, after], ['disabled', 'failing', ids.write(3n)]);
    });

    test('a change of types during an attempt returns the position right before the event of the attempt', async (world) => {
      const { store, addPet, receiver, sender, add, hold, change } = world;
      const { id } = await add({ types: ['pet.deleted'] });
      await store.execute(`delete from pets where id = ${await addPet()}`);
      await addPet();
      const response = await hold();
      const { after } = await change(id, { types: ['pet.added', 'pet.deleted'] });
      assert.equal(after, ids.write(1n));
      response.end();
      await sender.untilIdle();
      await sender.send();
      assert.deepEqual(receiver.listIds(), [2n, 3n].map(ids.write));
    });

    test('a webhook with added types skips no event of these types, at the end of the feed or before another event', async (world) => {
      const { store, database, addPet, receiver, add, change } = world;
      const { id } = await add({ types: ['pet.deleted'] });
      const types = ['pet.added', 'pet.deleted'] as const;
      const changing = intercept(
        database,
        async (parameters) => 'ids' in parameters && (await change(id, { types })),
      );
      const sender = world.startSender({}, changing);
      await addPet();
      for (let count = 0; count < 2; count += 1) await sender.send();
      await change(id, { types: ['pet.deleted'] });
      await store.execute(`delete from pets where id = ${await addPet()}`);
      for (let count = 0; count < 2; count += 1) await sender.send();
      assert.deepEqual(receiver.listIds(), [1n, 2n, 3n].map(ids.write));
    });

    test('an account has at most 5 webhooks, even after concurrent requests', async (world) => {
      const { addBuyer, reader, webhooks, add } = world;
      const made = await Promise.allSettled(Array.from({ length: 12 }, () => add()));
      const refused = made.filter((one) => one.status === 'rejected');
      assert.equal(refused.length, 7);
      for (const { reason } of refused) assert.equal(reason.code, 'limit_reached', reason);
      const { items: listed } = await webhooks.list(reader.accountId, 100, null);
      assert.equal(listed.length, 5);
      await webhooks.remove(listed[0]?.id ?? '', reader);
      await add();
      await add({}, { ...reader, accountId: (await addBuyer()).accountId });
    });

    test('a webhook never gets more than the key that created it may see, even after another key changes it', async (world) => {
      const { reader, webhooks, add, change } = world;
      const all: EventReader = { ...reader, seesOrders: 'all' };
      const pets: EventReader = { ...reader, seesOrders: 'none' };
      const none: EventReader = { ...reader, seesPets: false, seesOrders: 'none' };
      await assert.rejects(add({}, none), { code: 'scope_missing' });
      await assert.rejects(add({ types: ['order.expired'] }, pets), { code: 'scope_missing' });
      const ofPets = await add({}, pets);
      assert.deepEqual(ofPets.types, [
        'pet.added',
        'pet.updated',
        'pet.deleted',
        'category.updated',
        'category.deleted',
      ]);
      await assert.rejects(change(ofPets.id, { types: ['order.expired'] }, all), { code: 'scope_missing' });
      const ofAll = await add({}, all);
      for (const act of [
        () => change(ofAll.id, { url: 'https://a.example' }),
        () => webhooks.rotateSecret(ofAll.id, reader),
        () => webhooks.ping(ofAll.id, reader),
        () => webhooks.remove(ofAll.id, reader),
      ])
        await assert.rejects(act(), { code: 'scope_missing' });
      await change(ofAll.id, { types: ['pet.added'] }, all);
      await change(ofAll.id, { url: 'https://a.example' }, pets);
      await assert.rejects(change(ofAll.id, { types: ['pet.added', 'order.expired'] }), {
        code: 'scope_missing',
        message: /order\.expired/,
      });
      const other = { ...all, accountId: reader.accountId + 1n };
      await assert.rejects(webhooks.remove(ofAll.id, other), { code: 'not_found' });
      await assert.rejects(change(ofAll.id, {}, other), { code: 'not_found' });
    });

    test('a rotated secret still signs messages for 24 h, and a webhook has at most 10 secrets', async (world) => {
      const { store, addPet, receiver, reader, webhooks, sender, add } = world;
      const { id, secret } = await add();
      const rotated = await webhooks.rotateSecret(id, reader);
      assert.notEqual(rotated.secret, secret);
      await addPet();
      await sender.send();
      for (const [hours, signatures] of [
        [23, 2],
        [1, 1],
      ] as const) {
        await store.execute(`update webhook_secrets set ends_at_ms = ends_at_ms - ${hours * hourMs}`);
        await addPet();
        await sender.send();
        const { headers } = receiver.received.at(-1) ?? assert.fail();
        assert.equal(String(headers['webhook-signature']).split(' ').length, signatures);
      }
      for (let count = 0; count < 10; count += 1) await webhooks.rotateSecret(id, reader);
      assert.equal((await store.execute('select id from webhook_secrets')).length, 10);
    });

    test('the secrets in the store cannot be decrypted without the encryption key', async (world) => {
      const { engine, store, addPet, sender, add } = world;
      const { secret } = await add();
      await addPet();
      const [row] = (await store.execute('select secret from webhook_secrets')) as { secret: Uint8Array }[];
      const stored = Buffer.from(row?.secret ?? []);
      assert.equal(stored.indexOf(Buffer.from(secret.slice('whsec_'.length), 'base64')), -1);
      assert.equal(stored.length, 1 + 12 + 16 + 32);
      const spoilt = engine.name === 'SQLite' ? `cast(x'01' || secret as blob)` : `'\\x01'::bytea || secret`;
      await store.execute(`update webhook_secrets set secret = ${spoilt}`);
      for (let count = 0; count < 2; count += 1) await sender.send();
      assert.deepEqual(sender.noted, ['sealed']);
    });

    const noneDisabled = { owner: 0, operator: 0, gone: 0, failing: 0 };
    const all = { limit: 2, account: null, status: null, newestId: null };

    test('an operator lists the webhooks of all accounts in pages, with their lag', async (world) => {
      const { reader, addBuyer, add, operator, publish } = world;
      const first = await add();
      await publish(3);
      const second = await add({}, { ...reader, accountId: (await addBuyer()).accountId });
      const third = await add({ types: ['pet.added'] });
      await operator.change(first.id, { status: 'disabled' });
      const page = await operator.listPage(all);
      assert.deepEqual(
        page.items.map(({ id, account, eventsBehind, behindMs }) => [id, account, eventsBehind, behindMs]),
        [
          [third.id, 'buyer 1', 0, null],
          [second.id, 'buyer 2', 0, null],
        ],
      );
      const rest = await operator.listPage({ ...all, newestId: page.next });
      const [last] = rest.items;
      assert.deepEqual(
        [last?.id, last?.eventsBehind, last?.position, rest.items.length, rest.next],
        [first.id, 3, 0n, 1, null],
      );
      assert.ok((last?.behindMs ?? -1) >= 0);
      const find = async (filter: Partial<WebhookQuery>) =>
        (await operator.listPage({ ...all, ...filter })).items.map(({ id }) => id);
      assert.deepEqual(await find({ status: 'disabled' }), [first.id]);
      assert.deepEqual(await find({ account: 'buyer 2' }), [second.id]);
      assert.deepEqual(await find({ account: 'buyer 1', status: 'enabled' }), [third.id]);
      await assert.rejects(find({ account: 'None' }), { name: 'OperatorError' });
      assert.deepEqual(
        (await operator.list(null)).map(({ id }) => id),
        [first.id, second.id, third.id],
      );
    });

    test('the webhooks of a key are disabled in one transaction, also if one of them has just been deleted', async (world) => {
      const { store, database, add, get } = world;
      const [deleted, kept, other] = [await add(), await add(), await add({ keyId: 'key_2' })];
      const transact: Database['transact'] = async (transaction, input) => {
        await store.execute(`delete from webhooks where public_id = '${deleted.id}'`);
        return await database.transact(transaction, input);
      };
      const operator = createOperatorWebhooks({ ...database, transact }, Date.now);
      await operator.disableOfKey('key_1');
      const states = await Promise.all([kept, other].map(async ({ id }) => (await get(id)).disabledBecause));
      assert.deepEqual(states, ['operator', null]);
    });

    test('the greatest lag ignores disabled webhooks and suspended accounts', async (world) => {
      const { reader, store, addBuyer, add, operator, publish } = world;
      assert.deepEqual(await operator.readLag(), { farthest: [], disabled: noneDisabled });
      const other = { ...reader, accountId: (await addBuyer()).accountId };
      const [disabled, paused] = [await add(), await add({}, other)];
      await publish(1);
      const behind = await add();
      assert.equal((await operator.readLag()).farthest[0]?.id, disabled.id);
      await operator.change(disabled.id, { status: 'disabled' });
      await store.execute(`update accounts set suspended_at_ms = 1 where id = ${other.accountId}`);
      assert.deepEqual(await operator.readLag(), {
        farthest: [],
        disabled: { ...noneDisabled, operator: 1 },
      });
      await publish(1);
      const { farthest } = await operator.readLag();
      assert.equal(farthest[0]?.id, behind.id);
      assert.ok((farthest[0]?.behindMs ?? -1) >= 0);
      await store.execute('update accounts set suspended_at_ms = null');
      assert.equal((await operator.readLag()).farthest[0]?.id, paused.id);
    });

    test('a replay by an operator sends events again, and the audit log has the old and the new position of each replay as event ids', async (world) => {
      const { database, addPets, receiver, sender, add, operator } = world;
      const { id } = await add();
      await addPets(3);
      await sender.send();
      await operator.change(id, { after: 1n });
      await operator.change(id, { after: 1n });
      await sender.send();
      assert.equal(receiver.received.length, 5);
      await assert.rejects(operator.change(id, { after: 4n }), { code: 'invalid_body' });
      await assert.rejects(operator.change('wh_none', { after: 'now' }), { name: 'OperatorError' });
      const shown = createEventIds(await readSecret(database, 'cursor'));
      const { items: entries } = await createAudit(database, Date.now).list({ limit: 9 });
      assert.deepEqual(
        entries.map(({ actor, action, subject, account, before, after }) => [
          actor,
          action,
          subject,
          account,
          before,
          after,
        ]),
        [1n, 3n].map((from) => [
          mira,
          'webhook.replayed',
          id,
          'buyer 1',
          { after: shown.write(from) },
          { after: shown.write(1n) },
        ]),
      );
    });

    test('webhooks take turns if more have events than may send at the same time, and those that need no event take none', async (world) => {
      const { addPets, receiver, add, get } = world;
      const { id } = await add({ types: ['category.deleted'] });
      for (let count = 0; count < 2; count += 1) await add();
      await addPets(3);
      await world.startSender({ sendingsMax: 1 }).send();
      assert.deepEqual(receiver.listIds(), [1n, 1n, 2n, 2n, 3n, 3n].map(ids.write));
      const { after, lastAttempt } = await get(id);
      assert.deepEqual([after, lastAttempt], [ids.write(3n), null]);
    });

    test('another instance resends the event of an instance that ends during an attempt', async (world) => {
      const { store, addPets, receiver, sender, add, hold } = world;
      await add();
      await addPets(2);
      await hold(1);
      await sender.stop(0);
      const other = world.startSender({}, await store.open());
      await other.send();
      assert.deepEqual(receiver.listIds(), [1n, 2n, 2n].map(ids.write));
    });

    test('an instance sends nothing if its lease almost expires while it reads the webhook', async (world) => {
      const { database, addPet, reader, webhooks, add, receiver } = world;
      const { id } = await add();
      await addPet();
      await webhooks.ping(id, reader);
      let leftMs = 16_500;
      const slow = intercept(database, (parameters) => {
        if ('id' in parameters) leftMs = 16_400;
      });
      const sender = world.startSender({ leftMs: () => leftMs }, slow);
      await sender.send();
      assert.deepEqual([leftMs, receiver.received], [16_400, []]);
      leftMs = 16_500;
      const other = world.startSender({ leftMs: () => leftMs }, database);
      await other.send();
      assert.equal(receiver.received.length, 2);
    });

    test('only one instance has the lease, and another takes it over at once after its release and within 30 s after a death, whatever the clock of the store does', async (world) => {
      const { engine, store, database } = world;
      let elapsedMs = 0;
      const elapsed = () => elapsedMs;
      const one = createLease(database, 'work', elapsed);
      const other = createLease(await store.open(), 'work', elapsed);
      await one.renew();
      await other.renew();
      assert.ok(one.leftMs() > 0);
      if (engine.name === 'SQLite') {
        await one.release();
        return assert.equal(one.leftMs(), 0);
      }
      for (const stepMs of [0, -hourMs, hourMs, 7_200_000]) {
        await store.execute(`update leases set until_ms = until_ms - ${stepMs}`);
        for (let beat = 0; beat < 8; beat += 1, elapsedMs += renewalMs) {
          await other.renew();
          await one.renew();
          assert.deepEqual([one.leftMs(), other.leftMs()], [leaseMs, 0]);
        }
      }
      const diedAtMs = elapsedMs;
      for (; other.leftMs() === 0; elapsedMs += renewalMs) await other.renew();
      assert.equal(one.leftMs(), 0);
      assert.ok(elapsedMs <= diedAtMs + 30_000);
      await one.renew();
      assert.equal(one.leftMs(), 0);
      // A released lease is not taken again, even if a renewal is running.
      const renewal = other.renew();
      await Promise.all([other.release(), renewal]);
      await other.renew();
      assert.equal(other.leftMs(), 0);
      await one.renew();
      assert.ok(one.leftMs() > 0);
    });
  });
}
