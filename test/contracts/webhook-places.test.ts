import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { redactKeys } from '../../src/observability/safe-text.ts';
import { createPostMessage } from '../../src/webhooks/post-message.ts';
import { createNetworks } from '../../src/webhooks/rules/target-address.ts';
import { describeOnEngines } from '../support/engines.ts';
import { eventually } from '../support/redis-server.ts';
import { testsOn, toManager, type World } from './webhook-world.ts';

/** No attempt ends before its receiver answers, or before a test gives up. */
const attemptMs = 600_000;
const here = createNetworks(['127.0.0.1']);
const post = createPostMessage({
  allowed: here,
  shown: here,
  redact: redactKeys,
  allowsHttp: true,
  attemptMs,
});

/** Creates an account with webhooks that have a receiver in common, which calls `react` with each message. */
async function addAccount(world: World, webhooks: number, react: (response: ServerResponse) => void) {
  const receiver = await world.startReceiver();
  receiver.reactions.push(...Array<typeof react>(100).fill(react));
  const maker = toManager(await world.addBuyer());
  for (let count = 0; count < webhooks; count += 1) await world.add({ url: receiver.url }, maker);
  return receiver;
}

const keepWaiting = () => undefined;

await describeOnEngines('the places of webhooks', (engine) => {
  const test = testsOn(engine);

  test('a webhook gets its events one after the other while slow receivers of other accounts want all places', async (world) => {
    const slow = [];
    for (let accounts = 0; accounts < 3; accounts += 1) slow.push(await addAccount(world, 5, keepWaiting));
    await world.add();
    await world.publish(5);
    const sender = world.startSender({ places: 8, post });
    await sender.look();
    await eventually(async () => world.receiver.received.length === 5);
    await eventually(async () => sender.noted.length === 5);
    world.expectSent(1n, 2n, 3n, 4n, 5n);
    assert.equal(slow.flatMap(({ received }) => received).length, 4);
    await sender.stop(0);
  });

  test('an account with five slow receivers takes one place while other accounts wait', async (world) => {
    const receivers: Awaited<ReturnType<typeof addAccount>>[] = [];
    for (const webhooks of [5, 1, 1, 1]) receivers.push(await addAccount(world, webhooks, keepWaiting));
    await world.publish(1);
    const sender = world.startSender({ places: 4, post });
    await sender.look();
    await eventually(async () => receivers.every(({ received }) => received.length > 0));
    assert.deepEqual(
      receivers.map(({ received }) => received.length),
      [1, 1, 1, 1],
    );
    await sender.stop(0);
  });

  test('an account with five slow receivers takes five places while no other account waits', async (world) => {
    const receiver = await addAccount(world, 5, keepWaiting);
    await world.publish(1);
    const sender = world.startSender({ places: 10, post });
    await sender.look();
    await eventually(async () => receiver.received.length === 5);
    await sender.stop(0);
  });

  test('accounts take turns if they have more events than places, however many webhooks each has', async (world) => {
    const turns: string[] = [];
    for (const [name, webhooks] of Object.entries({ a: 2, b: 1 }))
      await addAccount(world, webhooks, (response) => {
        turns.push(name);
        response.writeHead(204).end();
      });
    await world.addPets(3);
    await world.startSender({ places: 1, post }).send();
    assert.equal(turns.join(''), 'abababaaa');
  });
});
