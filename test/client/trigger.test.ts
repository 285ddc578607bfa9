import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventTypes } from '../../src/events/event.ts';
import { installCommand } from './command.ts';
import { openShop } from './shop.ts';

const { client, apiKey, baseUrl, service } = await openShop({ after }, { ENVIRONMENT: 'development' });
const program = await installCommand({ after });
const variables = { ANIMAL_STORE_KEY: apiKey, ANIMAL_STORE_URL: baseUrl };

for (const type of eventTypes)
  test(`trigger ${type} makes a change that yields the event`, async (t) => {
    const { next } = await client.events.list({ after: 'now' });
    const { code, stdout, stderr } = await program.run(t, ['trigger', type], variables);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^${type}: .*\\d`));
    const hasEvent = async () => {
      const { items } = await client.events.list({ after: next });
      return items.some((event) => event.type === type);
    };
    // A hold ends by the clock of the store. The jobs of the service may pause, because its own clock stands still.
    while (!(await hasEvent())) await service.store.orders.expire();
  });

test('trigger refuses the key of a production store', async (t) => {
  const { code, stderr } = await program.run(t, ['trigger', 'pet.added'], {
    ...variables,
    ANIMAL_STORE_KEY: 'as_live_x',
  });
  assert.match(stderr, /as_live_/);
  assert.equal(code, 2);
});

test('trigger names the types that there are', async (t) => {
  const { code, stderr } = await program.run(t, ['trigger', 'pet'], variables);
  assert.equal(stderr, `animal-store-client: the type of an event must be one of ${eventTypes.join(', ')}\n`);
  assert.equal(code, 2);
});

test('the help names every type', async (t) => {
  const { stdout } = await program.run(t, ['--help'], {});
  for (const type of eventTypes) assert.ok(stdout.includes(type), type);
});
