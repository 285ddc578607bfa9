import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { ActingKey } from '../../src/accounts/acting-key.ts';
import { createEventIds } from '../../src/events/event-ids.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { redactKeys } from '../../src/observability/safe-text.ts';
import type { Database, Parameters } from '../../src/storage/database.ts';
import type { DeliveryObserver } from '../../src/webhooks/attempts.ts';
import type { WebhookChange, WebhookManager } from '../../src/webhooks/change-webhook.ts';
import { createDeliverer, type DelivererParts } from '../../src/webhooks/deliverer.ts';
import { createOperatorWebhooks } from '../../src/webhooks/operator-webhooks.ts';
import { createPostMessage } from '../../src/webhooks/post-message.ts';
import { createNetworks } from '../../src/webhooks/rules/target-address.ts';
import { createSecretBox } from '../../src/webhooks/secret-box.ts';
import { createWebhooks, type WebhookOrder } from '../../src/webhooks/webhooks.ts';
import type { Engine } from '../support/engines.ts';
import { type Reaction, startReceiver } from '../support/receiver.ts';
import { openShop } from './order-shop.ts';

export const ids = createEventIds(Buffer.alloc(32));
export const mira = { kind: 'console', name: 'mira in console_1' } as const;
/** The key that encrypts the secrets of webhooks. */
export const sealingKey = Buffer.alloc(32, 7);
export const box = createSecretBox([sealingKey]);
/** Time in ms after which an attempt times out. It is long enough for any answer, even on a busy machine. */
const attemptMs = 3_000;
const here = createNetworks(['127.0.0.1']);

function openSender(database: Database, given: Partial<DelivererParts>) {
  const noted: string[] = [];
  const observer: DeliveryObserver = {
    onAttempt: (result) => noted.push(result),
    onDisabled: (_, reason) => noted.push(reason),
    onSealed: () => noted.push('sealed'),
    onFault: (_, error) => noted.push(String(error)),
  };
  const post = createPostMessage({
    allowed: here,
    shown: here,
    redact: redactKeys,
    allowsHttp: true,
    attemptMs,
  });
  const leftMs = () => Number.POSITIVE_INFINITY;
  const parts = { database, ids, box, post, observer, leftMs, mayDisable: async () => true };
  const deliverer = createDeliverer({ ...parts, ...given });

  /** Sends all due events and waits for the answers, once or several times. */
  async function send(times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      await sequenceEvents(database);
      await deliverer.look();
      await deliverer.untilIdle();
    }
  }
  return { ...deliverer, noted, send };
}

/** Returns a database that calls `before` with the parameters of each statement. */
export function intercept(database: Database, before: (parameters: Parameters) => unknown): Database {
  const watch =
    (call: Database['read']): Database['read'] =>
    async (statement, parameters) => {
      await before(parameters);
      return await call(statement, parameters);
    };
  return { ...database, read: watch(database.read), run: watch(database.run) };
}

/** Returns a key as the manager of webhooks that sees animals and the orders of its account. */
export function toManager({ accountId, keyId, nowMs }: ActingKey): WebhookManager {
  return { accountId, keyId, nowMs, seesPets: true, seesOrders: 'own' };
}

async function openWorld(t: TestContext, engine: Engine) {
  const shop = await openShop(t, engine);
  const { store, database } = shop;
  const receiver = await startReceiver(t);
  const buyer = await shop.addBuyer();
  const reader = toManager(buyer);
  const webhooks = createWebhooks(database, ids, box);
  /** Creates the sender of an instance, which stops after the test. */
  const startSender = (parts: Partial<DelivererParts> = {}, on = database) => {
    const opened = openSender(on, parts);
    t.after(() => opened.stop(0));
    return opened;
  };
  const sender = startSender();

  /** Creates a webhook. Returns it with the operations on it, by default of the reader that created it. */
  async function add(order: Partial<WebhookOrder> = {}, maker = reader) {
    const made = await webhooks.add({ url: receiver.url, types: null, ...order }, maker);
    const { id } = made;
    const get = () => webhooks.get(id, maker.accountId);
    return {
      ...made,
      get,
      /** Throws unless the webhook has these fields now. */
      expect: async (fields: object) => assert.partialDeepStrictEqual(await get(), fields),
      change: (change: WebhookChange, by = maker) => webhooks.change(id, change, by),
      ping: (by = maker) => webhooks.ping(id, by),
      resend: (position: bigint, by = maker) => webhooks.send(id, ids.write(position), by),
      rotate: (by = maker) => webhooks.rotateSecret(id, by),
      remove: (by = maker) => webhooks.remove(id, by),
      listAttempts: (by = maker) => webhooks.listAttempts(id, by),
    };
  }

  return {
    ...shop,
    engine,
    receiver,
    startReceiver: () => startReceiver(t),
    buyer,
    reader,
    webhooks,
    startSender,
    sender,
    add,
    operator: createOperatorWebhooks(database, Date.now, box, mira),
    /** Adds animals, and gives their events positions. */
    async publish(count: number): Promise<void> {
      await shop.addPets(count);
      await sequenceEvents(database);
    },
    /** Adds animals, and sends their events. */
    async deliver(count: number): Promise<void> {
      await shop.addPets(count);
      await sender.send();
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
    /** Throws unless the receiver got exactly the events at these positions, in this order. */
    expectSent: (...positions: bigint[]) => assert.deepEqual(receiver.listIds(), positions.map(ids.write)),
    listSentTypes: () => receiver.received.map(({ body }) => JSON.parse(body).type as string),
    /** Simulates that `ms` have passed, so that waiting webhooks become due. */
    skip: (ms: number) =>
      store.execute(`update webhooks set next_attempt_at_ms = next_attempt_at_ms - ${ms},
        failing_since_ms = failing_since_ms - ${ms}`),
    /** Simulates 200 failures since the last success. */
    addFailures: () => store.execute('update webhooks set failures = 200'),
    /** Returns the milliseconds from the last attempt to the next one, from the store. */
    async readWaitMs() {
      const sql = 'select next_attempt_at_ms - last_attempt_at_ms as ms from webhooks';
      const [row] = await store.execute<{ ms: unknown }>(sql);
      return Number(row?.ms);
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** Returns a function that declares a test with a world of its own. */
export const testsOn = (engine: Engine) => (title: string, body: (world: World) => Promise<void>) =>
  test(title, async (t) => body(await openWorld(t, engine)));
