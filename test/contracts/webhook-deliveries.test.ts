import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { dayMs, hourMs, secondMs } from '../../src/clock.ts';
import { storeUnavailable } from '../../src/storage/store-errors.ts';
import type { WebhookChange } from '../../src/webhooks/change-webhook.ts';
import { importPets } from '../support/catalogue.ts';
import { describeOnEngines } from '../support/engines.ts';
import { eventually } from '../support/redis-server.ts';
import { ids, intercept, testsOn } from './webhook-world.ts';

await describeOnEngines('the deliveries of webhooks', (engine) => {
  const test = testsOn(engine);

  test('a new webhook gets each event after the newest one once, in the order of the feed', async (world) => {
    const { orders, addPet, place, buyer, sender, add, publish, expectSent, listSentTypes } = world;
    assert.equal((await add({ types: ['order.returned'] })).after, null);
    await publish(1);
    const webhook = await add();
    assert.equal(webhook.after, ids.write(1n));
    const order = await place(buyer, await addPet());
    await orders.close('complete', order.id, buyer);
    await sender.send();
    await webhook.expect({ after: ids.write(6n), lastAttempt: { result: 204 } });
    await sender.send();
    expectSent(2n, 3n, 4n, 5n, 6n);
    const ofOrder = ['reserved', 'completed'].flatMap((to) => ['pet.updated', `order.${to}`]);
    assert.deepEqual(listSentTypes(), ['pet.added', ...ofOrder]);
  });

  test('a webhook pauses only while its account is suspended', async (world) => {
    const { store, receiver, buyer, sender, add, deliver, expectSent } = world;
    await add();
    await store.execute(`update accounts set suspended_at_ms = 1 where id = ${buyer.accountId}`);
    await deliver(1);
    assert.deepEqual(receiver.received, []);
    await store.execute(`update accounts set suspended_at_ms = null where id = ${buyer.accountId}`);
    await sender.send();
    expectSent(1n);
  });

  test('a webhook that is 1,200 events behind gets every event of its types once', async (world) => {
    const { store, database, addPet, sender, add, listSentTypes } = world;
    await add({ types: ['pet.deleted'] });
    await importPets(database, Array(1_200).fill({ name: 'Rex', categoryId: 1n, status: 'sold' }));
    const last = await addPet();
    await store.execute(`delete from pets where id in (1, 700, ${last})`);
    await sender.send(5);
    assert.deepEqual(listSentTypes(), ['pet.deleted', 'pet.deleted', 'pet.deleted']);
  });

  test('a webhook gets only the orders that the key that created it could read', async (world) => {
    const { reader, addPet, addBuyer, place, receiver, buyer, sender, add } = world;
    const types = ['order.reserved'] as const;
    await add({ types });
    await add({ types }, { ...reader, seesOrders: 'all' });
    await place(await addBuyer(), await addPet(), { reference: 'other' });
    await place(buyer, await addPet(), { reference: 'own' });
    await sender.send();
    const shown = receiver.received.map(({ body }) => {
      const { reference, account } = JSON.parse(body).data;
      return `${reference} ${account !== undefined}`;
    });
    assert.deepEqual(shown.toSorted(), ['other true', 'own false', 'own true']);
  });

  test('an event without a success is sent again after its documented wait, before all later ones', async (world) => {
    const { addPets, receiver, sender, add, skip, readWaitMs, expectSent } = world;
    const webhook = await add();
    await addPets(2);
    const breakOff = (response: ServerResponse) => void response.destroy();
    const later = { status: 503, headers: { 'retry-after': '90' } };
    receiver.reactions.push(later, 302, breakOff, 503, 429, 400, 200, 200);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await sender.send(2);
      assert.equal(receiver.received.length, attempt);
      waits.push(await readWaitMs());
      await skip(waits.at(-1) ?? 0);
    }
    assert.equal(waits[0], 90_000);
    const expected = [90, 30, 120, 600, 1_800, 1_800].map((seconds) => seconds * 1_000);
    for (const [index, usual] of expected.entries())
      assert.ok(Math.abs((waits[index] ?? 0) - usual) <= usual / 10, `${waits}`);
    await webhook.expect({ lastAttempt: { result: 400 } });
    await sender.send();
    expectSent(...Array<bigint>(7).fill(1n), 2n);
    assert.deepEqual(sender.noted, ['503', '302', 'refused', '503', '429', '400', '200', '200']);
  });

  test('a success resets the waits between attempts', async (world) => {
    const { addPets, receiver, sender, skip, begin, readWaitMs } = world;
    await begin(500, 500, 200, 500);
    await addPets(1);
    for (let retry = 0; retry < 2; retry += 1) {
      await skip(await readWaitMs());
      await sender.send();
    }
    assert.equal(receiver.received.length, 4);
    assert.ok((await readWaitMs()) <= 5_500);
  });

  test('a webhook is disabled only after 5 days and 100 attempts without a success by a steady clock', async (world) => {
    const { store, receiver, skip, begin } = world;
    let isSteady = true;
    const sender = world.startSender({ mayDisable: async () => isSteady });
    const webhook = await begin(...Array<number>(5).fill(500));
    for (const [hours, failures, steady, disabledBecause] of [
      [120, 98, true, null],
      [-1, 200, true, null],
      [1, 200, false, null],
      [0, 200, true, 'failing'],
    ] as const) {
      isSteady = steady;
      await skip(hours * hourMs);
      await store.execute(`update webhooks set failures = ${failures}, next_attempt_at_ms = 0`);
      await sender.send();
      const status = disabledBecause === null ? 'enabled' : 'disabled';
      await webhook.expect({ status, disabledBecause });
    }
    assert.equal(receiver.received.length, 5);
  });

  test('after the clock was set back, a retry is at most an hour away', async (world) => {
    const { receiver, sender, skip, begin } = world;
    await begin(500, 500);
    for (const [passedMs, received] of [
      [-hourMs, 1],
      [-40 * dayMs, 2],
    ] as const) {
      await skip(passedMs);
      await sender.send();
      assert.equal(receiver.received.length, received);
    }
  });

  test('after the clock was set back, the 5 days without a success begin again', async (world) => {
    const { receiver, sender, skip, begin, addFailures } = world;
    const webhook = await begin(500, 500, 500, 500);
    await addFailures();
    for (const [passedMs, received, status] of [
      [-40 * dayMs, 2, 'enabled'],
      [119 * hourMs, 3, 'enabled'],
      [hourMs, 4, 'disabled'],
    ] as const) {
      await skip(passedMs);
      await sender.send();
      assert.equal(receiver.received.length, received);
      await webhook.expect({ status });
    }
  });

  test('a change of url, status or after, but not of types, makes the next attempt immediate', async (world) => {
    const { receiver, sender, begin } = world;
    const webhook = await begin(500, 500, 500, 500);
    const changes: [WebhookChange, attempts: number][] = [
      [{ types: ['pet.added'] }, 1],
      [{ url: receiver.url }, 2],
      [{ status: 'enabled' }, 3],
      [{ after: 0n }, 4],
    ];
    for (const [change, attempts] of changes) {
      await webhook.change(change);
      await sender.send();
      assert.equal(receiver.received.length, attempts, JSON.stringify(Object.keys(change)));
    }
  });

  test('whatever an attempt throws is a failed attempt with its wait', async (world) => {
    const { addPet, add, readWaitMs } = world;
    const webhook = await add();
    await addPet();
    const post = () => Promise.reject(new URIError('URI malformed'));
    const sender = world.startSender({ post });
    await sender.send(2);
    assert.deepEqual(sender.noted, ['URIError: URI malformed', 'refused']);
    await webhook.expect({ lastAttempt: { result: 'refused' } });
    assert.ok((await readWaitMs()) >= 4_500);
  });

  test('every fault of the store is noted without a repetition at once', async (world) => {
    const { store, database, addPet, receiver, add } = world;
    await addPet();
    for (let count = 0; count < 2; count += 1) await add({ types: ['pet.deleted'] });
    await store.execute('delete from pets');
    const failing = intercept(database, (parameters) => {
      if ('id' in parameters) throw new Error(`webhook ${parameters['id']}`);
    });
    const unable = world.startSender({}, failing);
    await unable.send();
    assert.deepEqual(unable.noted, ['Error: webhook 1', 'Error: webhook 2']);
    const transact = () => Promise.reject(new Error('a strange failure of the store'));
    await world.startSender({}, { ...database, transact }).send(5);
    assert.equal(receiver.received.length, 2);
  });

  test('an event is sent within a second after a fault of the store before its attempt', async (world) => {
    const { database, add, publish, startSender, expectSent } = world;
    await add();
    await publish(1);
    let [faults, elapsedMs] = [1, 0];
    const failing = intercept(database, (parameters) => {
      if (!('id' in parameters) || faults === 0) return;
      faults -= 1;
      throw storeUnavailable();
    });
    const unable = startSender({ elapsedMs: () => elapsedMs }, failing);
    await unable.send();
    expectSent();
    elapsedMs = secondMs;
    await unable.send();
    expectSent(1n);
    assert.match(unable.noted.join(), /^AppError: .*,204$/);
  });

  test('a result that the store cannot record at first is recorded later, without a second attempt', async (world) => {
    const { database, add, publish, startSender, expectSent } = world;
    const webhook = await add();
    await publish(1);
    let faults = 2;
    const transact: typeof database.transact = (transaction, input) => {
      faults -= 1;
      return faults < 0 ? database.transact(transaction, input) : Promise.reject(storeUnavailable());
    };
    await startSender({}, { ...database, transact }).send();
    await webhook.expect({ after: ids.write(1n), lastAttempt: { result: 204 } });
    expectSent(1n);
  });

  for (const kind of ['ping', 'event'])
    test(`the answer 410 to a late ${kind} does not disable a webhook that was changed during the attempt`, async (world) => {
      const { sender, add, hold, publish } = world;
      const webhook = await add();
      if (kind === 'event') await publish(1);
      for (const status of ['enabled', 'disabled'] as const) {
        if (kind === 'ping') await webhook.ping();
        const response = await hold();
        await webhook.change({ status });
        response.writeHead(410).end();
        await sender.untilIdle();
        await webhook.expect({ status, lastAttempt: { result: 410 } });
      }
      assert.deepEqual(sender.noted, ['410', '410']);
    });

  test('a webhook that a ping has disabled as gone keeps this reason when a late event fails after 5 days', async (world) => {
    const { receiver, sender, hold, skip, begin, addFailures } = world;
    const webhook = await begin(500);
    await skip(120 * hourMs);
    await addFailures();
    const response = await hold();
    receiver.reactions.push(410);
    await webhook.ping();
    await sender.look();
    await eventually(async () => (await webhook.get()).disabledBecause === 'gone');
    response.writeHead(500).end();
    await sender.untilIdle();
    await webhook.expect({ disabledBecause: 'gone', lastAttempt: { result: 500 } });
    assert.deepEqual(sender.noted.slice(1), ['410', 'it answered 410', '500']);
  });

  test('setting after sends the later events again with the same ids', async (world) => {
    const { sender, add, deliver, expectSent } = world;
    const webhook = await add();
    await deliver(3);
    await webhook.change({ after: 1n });
    await sender.send();
    expectSent(1n, 2n, 3n, 2n, 3n);
    await webhook.change({ after: 0n });
    assert.equal((await webhook.change({ after: 'now' })).after, ids.write(3n));
    await sender.send();
    await assert.rejects(webhook.change({ after: 4n }), { code: 'invalid_body' });
    expectSent(1n, 2n, 3n, 2n, 3n);
  });

  test('a delivery that succeeds after a change of after does not undo it', async (world) => {
    const { addPets, sender, add, hold, expectSent } = world;
    const webhook = await add();
    await addPets(2);
    const response = await hold(1);
    await webhook.change({ after: 0n });
    response.end();
    await sender.untilIdle();
    await sender.send();
    expectSent(1n, 2n, 1n, 2n);
  });

  test('a change of types during an attempt returns the position right before the event of the attempt', async (world) => {
    const { store, addPet, sender, add, hold, expectSent } = world;
    const webhook = await add({ types: ['pet.deleted'] });
    await store.execute(`delete from pets where id = ${await addPet()}`);
    await addPet();
    const response = await hold();
    const { after } = await webhook.change({ types: ['pet.added', 'pet.deleted'] });
    assert.equal(after, ids.write(1n));
    response.end();
    await sender.untilIdle();
    await sender.send();
    expectSent(2n, 3n);
  });

  test('a webhook with added types skips no event of these types', async (world) => {
    const { store, database, addPet, add, expectSent } = world;
    const webhook = await add({ types: ['pet.deleted'] });
    const types = ['pet.added', 'pet.deleted'] as const;
    const changing = intercept(
      database,
      async (parameters) => 'ids' in parameters && (await webhook.change({ types })),
    );
    const sender = world.startSender({}, changing);
    await addPet();
    await sender.send(2);
    await webhook.change({ types: ['pet.deleted'] });
    await store.execute(`delete from pets where id = ${await addPet()}`);
    await sender.send(2);
    expectSent(1n, 2n, 3n);
  });

  test('only webhooks that need an event take turns if more of them do than may send at the same time', async (world) => {
    const { addPets, add, expectSent } = world;
    const idle = await add({ types: ['category.deleted'] });
    for (let count = 0; count < 2; count += 1) await add();
    await addPets(3);
    await world.startSender({ places: 1 }).send();
    expectSent(1n, 1n, 2n, 2n, 3n, 3n);
    await idle.expect({ after: ids.write(3n), lastAttempt: null });
  });

  test('another instance resends the event of an instance that ends during an attempt', async (world) => {
    const { store, addPets, sender, add, hold, expectSent } = world;
    await add();
    await addPets(2);
    await hold(1);
    await sender.stop(0);
    await world.startSender({}, await store.open()).send();
    expectSent(1n, 2n, 2n);
  });

  test('an instance sends nothing if its lease almost expires while it reads the webhook', async (world) => {
    const { database, addPet, add, receiver } = world;
    const webhook = await add();
    await addPet();
    await webhook.ping();
    let leftMs = 16_500;
    const slow = intercept(database, (parameters) => {
      if ('id' in parameters) leftMs = 16_400;
    });
    await world.startSender({ leftMs: () => leftMs }, slow).send();
    assert.deepEqual([leftMs, receiver.received], [16_400, []]);
    leftMs = 16_500;
    await world.startSender({ leftMs: () => leftMs }).send();
    assert.equal(receiver.received.length, 2);
  });
});
