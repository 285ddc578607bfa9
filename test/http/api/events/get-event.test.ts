import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Scope, scopes } from '../../../../src/accounts/account.ts';
import { expectError } from '../../../support/expect-error.ts';
import { startWithKey } from '../../../support/service.ts';

const { service, key: partner } = await startWithKey({ after });
const keyWith = (...some: Scope[]) => service.createKey('pro', undefined, { scopes: some });

/** Adds an animal, orders it and returns the events of both. */
async function makeEvents(): Promise<{ id: string; type: string }[]> {
  const start = (await (await service.request(partner, '/events?after=now')).headers.get('link')) ?? '';
  const [, after = ''] = /after=(\w+)/.exec(start) ?? [];
  const { id: petId } = (await (await service.post(partner, { name: 'Rex', categoryId: 1 })).json()) as {
    id: number;
  };
  assert.equal((await service.send(partner, 'POST /orders', { petId })).status, 201);
  const events: { id: string; type: string }[] = [];
  while (events.length < 3) {
    const last = events.at(-1)?.id ?? after;
    const page = await service.request(partner, `/events?after=${last}&wait=20`);
    events.push(...((await page.json()) as typeof events));
  }
  return events;
}

const ask = (id: string, key = partner) => service.request(key, `/events/${id}`);

test('an event is the one of the list', async () => {
  for (const event of await makeEvents()) {
    const response = await ask(event.id);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), event);
  }
});

test('an event that the key may not read is not found', async () => {
  const [added, , reserved] = await makeEvents();
  const pets = await keyWith('pets:read');
  const orders = await keyWith('orders:read');
  assert.equal((await ask(added?.id ?? '', pets)).status, 200);
  for (const [id = '', key] of [
    [added?.id, orders],
    [reserved?.id, pets],
    [reserved?.id, orders],
  ] as const)
    await expectError(await ask(id, key), 404, 'not_found');
  assert.equal((await ask(reserved?.id ?? '', await keyWith(...scopes))).status, 200);
});

test('an id that was never given is not found', async () => {
  const [event] = await makeEvents();
  const id = event?.id ?? '';
  for (const wrong of ['x', '1', 'now', 'evt_0000000000000000', `${id}0`, id.toUpperCase()])
    await expectError(await ask(wrong), 404, 'not_found');
});

test('an event that is no longer kept is gone', async () => {
  const [event] = await makeEvents();
  service
    .openFile()
    .exec('update event_horizon set deleted_to = (select max(id) from events); delete from events');
  await expectError(await ask(event?.id ?? ''), 410, 'events_expired');
});
