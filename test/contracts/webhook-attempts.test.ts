import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { hourMs } from '../../src/clock.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { fieldsOf } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';
import type { Reaction } from '../support/receiver.ts';
import { ids, testsOn } from './webhook-world.ts';

/** Returns an answer of 500 with a body. */
const say = (body: string) => (response: ServerResponse) => void response.writeHead(500).end(body);

await describeOnEngines('what an attempt to send to a webhook says', (engine) => {
  const test = testsOn(engine);

  test('an attempt has the number that it is for its event', async (world) => {
    const { addPet, begin, sender, skip } = world;
    const webhook = await begin(500, 500);
    await addPet();
    for (let count = 0; count < 2; count += 1) {
      await skip(hourMs);
      await sender.send();
    }
    const numbers = fieldsOf(await webhook.listAttempts(), 'eventId', 'attempt');
    const [first, second] = [ids.write(1n), ids.write(2n)];
    assert.deepEqual(numbers, [[second, 1], ...[3, 2, 1].map((attempt) => [first, attempt])]);
  });

  test('a replay and a restart of the retries continue the numbers of an event', async (world) => {
    const { begin, sender } = world;
    const webhook = await begin(500, 200, 200);
    await webhook.change({ status: 'enabled' });
    await sender.send();
    await webhook.change({ after: 0n });
    await sender.send();
    assert.deepEqual(fieldsOf(await webhook.listAttempts(), 'attempt'), [[3], [2], [1]]);
  });

  test('an attempt that somebody has requested is one by hand', async (world) => {
    const { begin, operator, sender } = world;
    const webhook = await begin(200);
    await webhook.ping();
    await sender.send();
    await webhook.resend(1n);
    await sender.send();
    await operator.send(webhook.id, ids.write(1n), 1n);
    await sender.send();
    const listed = fieldsOf(await webhook.listAttempts(), 'isManual', 'attempt');
    assert.deepEqual(listed, [
      [true, 3],
      [true, 2],
      [true, 1],
      [false, 1],
    ]);
  });

  test('an attempt of the release before has no number', async (world) => {
    const { store, add } = world;
    const webhook = await add();
    await store.execute(insertOld());
    const fields = fieldsOf(await webhook.listAttempts(), 'attempt', 'isManual', 'answerStart');
    assert.deepEqual(fields, [[null, null, null]]);
  });

  test('the attempts of the release before count for the number of the next one', async (world) => {
    const { store, add, deliver } = world;
    const webhook = await add();
    for (let count = 0; count < 2; count += 1) await store.execute(insertOld());
    await deliver(1);
    assert.deepEqual(fieldsOf(await webhook.listAttempts(), 'attempt'), [[3], [null], [null]]);
  });

  test('an attempt has the start of the answer, whatever characters are in it', async (world) => {
    const { begin } = world;
    const answer = '<b>no</b>\0\u001b[31m "é猫" \u202e';
    const webhook = await begin(say(answer));
    assert.deepEqual(fieldsOf(await webhook.listAttempts(), 'answerStart'), [[answer]]);
  });

  test('an attempt without an answer has no start of one', async (world) => {
    const breakOff: Reaction = (response) => void response.destroy();
    const webhook = await world.begin(breakOff);
    assert.deepEqual(fieldsOf(await webhook.listAttempts(), 'answerStart'), [[null]]);
  });

  test('a deleted webhook leaves no answer', async (world) => {
    const webhook = await world.begin(say('secret'));
    await webhook.remove();
    assert.deepEqual(await world.store.execute('select id from webhook_attempts'), []);
  });

  test('only a key that may read all that a webhook sees lists its attempts', async (world) => {
    const { reader, add } = world;
    const all = { ...reader, seesOrders: 'all' } as const;
    const webhook = await add({ types: ['order.reserved'] }, all);
    assert.deepEqual(await webhook.listAttempts({ ...all, seesPets: false }), []);
    for (const seesOrders of ['own', 'none'] as const)
      await assert.rejects(webhook.listAttempts({ ...reader, seesOrders }), { code: 'scope_missing' });
  });

  test('a webhook says when its next attempt comes only while a retry waits', async (world) => {
    const { begin, sender, skip, readWaitMs } = world;
    const webhook = await begin(500, 500, 200);
    const { lastAttempt, nextAttemptAt } = await webhook.get();
    const waitMs = Date.parse(nextAttemptAt ?? '') - Date.parse(lastAttempt?.at ?? '');
    assert.equal(waitMs, await readWaitMs());
    await webhook.change({ status: 'disabled' });
    await webhook.expect({ nextAttemptAt: null });
    await webhook.change({ status: 'enabled' });
    await webhook.expect({ nextAttemptAt: null });
    await sender.send();
    assert.notEqual((await webhook.get()).nextAttemptAt, null);
    await skip(hourMs);
    await sender.send();
    await webhook.expect({ nextAttemptAt: null, lastAttempt: { result: 200 } });
  });

  test('a webhook of a suspended account waits for no retry', async (world) => {
    const { store, buyer, begin, operator } = world;
    const { id } = await begin(500);
    assert.notEqual((await operator.get(id)).webhook.nextAttemptAtMs, null);
    await store.execute(`update accounts set suspended_at_ms = 1 where id = ${buyer.accountId}`);
    assert.equal((await operator.get(id)).webhook.nextAttemptAtMs, null);
  });
});

await describeOnEngines('what a disabled webhook can still get', (engine) => {
  const test = testsOn(engine);

  test('the number of its events that are kept counts only those that it may see', async (world) => {
    const { reader, add, addPet, addBuyer, buyer, place, operator, database } = world;
    const types = ['pet.added', 'order.reserved'] as const;
    const own = await add({ types });
    const every = await add({ types }, { ...reader, seesOrders: 'all' });
    const added = await add({ types: ['pet.added'] });
    await place(buyer, await addPet());
    await place(await addBuyer(), await addPet());
    await sequenceEvents(database);
    for (const [webhook, events] of [
      [own, 3],
      [every, 4],
      [added, 2],
    ] as const) {
      assert.equal((await operator.get(webhook.id)).left, null);
      await webhook.change({ status: 'disabled' });
      const { left } = await operator.get(webhook.id);
      assert.deepEqual(left, { events, hasMore: false, isPositionLost: false });
    }
  });

  test('its position is lost once a later event is deleted', async (world) => {
    const { store, add, publish, operator } = world;
    const webhook = await add();
    await webhook.change({ status: 'disabled' });
    await publish(3);
    await store.execute('delete from events where id = 1');
    await store.execute('update event_horizon set deleted_to = 1');
    const left = { events: 2, hasMore: false, isPositionLost: true };
    assert.deepEqual((await operator.get(webhook.id)).left, left);
  });

  test('more than 10,000 events are not counted', async (world) => {
    const { store, add, operator } = world;
    const { id, change } = await add({ types: ['pet.added', 'pet.deleted'] });
    await change({ status: 'disabled' });
    const addEvents = (type: string, count: number) =>
      store.execute(`insert into events (at_ms, type, data) with recursive numbers (n) as (
        select 1 union all select n + 1 from numbers where n < ${count}) select 1, '${type}', '{}' from numbers`);
    await addEvents('pet.added', 6_000);
    await addEvents('pet.deleted', 4_000);
    const left = { events: 10_000, hasMore: false, isPositionLost: false };
    assert.deepEqual((await operator.get(id)).left, left);
    await addEvents('pet.deleted', 4_000);
    assert.deepEqual((await operator.get(id)).left, { ...left, hasMore: true });
  });
});

/** An attempt at the first event, as the release before writes it. */
const insertOld = () => `insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms)
  select id, '${ids.write(1n)}', ${Date.now()}, '500', 1 from webhooks`;
