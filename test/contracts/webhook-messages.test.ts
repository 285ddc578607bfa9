import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { dayMs } from '../../src/clock.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { expireAttempts } from '../../src/webhooks/attempt-rows.ts';
import { fieldsOf } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';
import { ids, testsOn, toManager } from './webhook-world.ts';

await describeOnEngines('the requested messages and the attempts of webhooks', (engine) => {
  const test = testsOn(engine);

  test('a ping is sent once, outside the feed, even if the webhook is disabled or waits for a retry', async (world) => {
    const { receiver, sender, begin } = world;
    const webhook = await begin(500, 503);
    const pingId = await webhook.ping();
    assert.equal(await webhook.ping(), pingId);
    await sender.send();
    const { headers, body } = receiver.received[1] ?? assert.fail();
    assert.equal(headers['webhook-id'], pingId);
    const form = `^{"id":"${pingId}","type":"webhook.ping","timestamp":"[^"]*Z","data":{}}$`;
    assert.match(body, new RegExp(form));
    await webhook.expect({ lastAttempt: { result: 503 } });
    await webhook.change({ status: 'disabled' });
    await sender.send();
    await webhook.ping();
    await sender.send();
    assert.equal(receiver.received.length, 3);
    await webhook.expect({ lastAttempt: { result: 204 } });
  });

  test('a ping that is sent while its webhook gets another URL is sent to that URL as well', async (world) => {
    const { receiver, sender, add, hold } = world;
    const webhook = await add();
    const pingId = await webhook.ping();
    const response = await hold();
    await webhook.change({ url: `${receiver.url}new` });
    assert.equal(await webhook.ping(), pingId);
    response.writeHead(500).end();
    await sender.untilIdle();
    await sender.send(2);
    assert.deepEqual(fieldsOf(await webhook.listAttempts(), 'eventId', 'result'), [
      [pingId, 204],
      [pingId, 500],
    ]);
  });

  test('an event is sent once more on request without a change of the webhook, even of a disabled one', async (world) => {
    const { receiver, sender, add, deliver, expectSent } = world;
    const webhook = await add();
    await deliver(2);
    await webhook.change({ status: 'disabled' });
    for (const position of [1n, 1n, 1n, 2n]) await webhook.resend(position);
    await sender.send(3);
    expectSent(1n, 2n, 1n, 2n);
    assert.equal(receiver.received[2]?.body, receiver.received[0]?.body);
    await webhook.expect({ after: ids.write(2n), status: 'disabled' });
  });

  test('an event that is gone or not for the webhook is not sent on request', async (world) => {
    const { store, database, add, addPet, place, addBuyer, buyer, reader, webhooks } = world;
    const webhook = await add({ types: ['pet.added', 'order.reserved'] });
    const pet = await addPet();
    await place(await addBuyer(), pet);
    await store.execute(`insert into events (at_ms, type, data) values (1, 'customer.added', '{"id":1}')`);
    await place(buyer, await addPet());
    await sequenceEvents(database);
    const rows = await store.execute<{ id: bigint; type: string }>('select id, type from events order by id');
    const tryEach = rows.map(async ({ id, type }) => {
      const outcome = webhook.resend(BigInt(id)).then(() => 'sent');
      return `${type} ${await outcome.catch(({ code }) => code)}`;
    });
    assert.deepEqual((await Promise.all(tryEach)).toSorted(), [
      'customer.added not_found',
      'order.reserved not_found',
      'order.reserved sent',
      'pet.added sent',
      'pet.added sent',
      'pet.updated not_found',
      'pet.updated not_found',
    ]);
    for (const unknown of [ids.write(99n), ids.write(0n), 'evt_0000000000000000'])
      await assert.rejects(webhooks.send(webhook.id, unknown, reader), { code: 'not_found' });
    await store.execute('update event_horizon set deleted_to = 1');
    await assert.rejects(webhook.resend(1n), { code: 'events_expired' });
    const blind = { ...reader, seesOrders: 'none' } as const;
    await assert.rejects(webhook.resend(2n, blind), { code: 'scope_missing' });
    const stranger = toManager(await addBuyer());
    await assert.rejects(webhook.resend(2n, stranger), { code: 'not_found' });
  });

  test('at most 100 requested messages of a webhook wait', async (world) => {
    const { store, add, publish } = world;
    const webhook = await add();
    await publish(101);
    for (let position = 1n; position <= 99n; position += 1n) await webhook.resend(position);
    for (let count = 0; count < 2; count += 1) await webhook.ping();
    await webhook.resend(1n);
    await assert.rejects(webhook.resend(100n), { code: 'limit_reached' });
    await webhook.remove();
    assert.deepEqual(await store.execute('select id from webhook_requests'), []);
  });

  test('the attempts of a webhook are listed with their results, newest first: the last 100 of 7 days', async (world) => {
    const { store, database, reader, begin, deliver, sender, skip } = world;
    const breakOff = (response: ServerResponse) => void response.destroy();
    const startedMs = Date.now();
    const webhook = await begin(500, breakOff, 204, 202);
    for (let count = 0; count < 2; count += 1) {
      await skip(60_000);
      await sender.send();
    }
    const pingId = await webhook.ping();
    await sender.send();
    const listed = await webhook.listAttempts();
    const ofEvent = [204, 'refused', 500].map((result) => [ids.write(1n), result]);
    assert.deepEqual(fieldsOf(listed, 'eventId', 'result'), [[pingId, 202], ...ofEvent]);
    for (const { at, durationMs } of listed) {
      assert.ok(Date.parse(at) >= startedMs && Date.parse(at) <= Date.now());
      assert.ok(durationMs >= 0 && durationMs <= Date.now() - startedMs);
    }
    await deliver(110);
    const countStored = async () => (await store.execute('select id from webhook_attempts')).length;
    const newest = await webhook.listAttempts();
    assert.deepEqual([newest.length, newest[0]?.eventId], [100, ids.write(111n)]);
    assert.equal(await countStored(), 100);
    await store.execute(`update webhook_attempts set at_ms = at_ms - ${7 * dayMs} where id <= ${50 + 14}`);
    const kept = (await webhook.listAttempts()).length;
    assert.ok(kept > 0 && kept < 100);
    await expireAttempts(database);
    assert.equal(await countStored(), kept);
    await assert.rejects(webhook.listAttempts({ ...reader, accountId: reader.accountId + 1n }), {
      code: 'not_found',
    });
  });
});
