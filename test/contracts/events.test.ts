import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Actor } from '../../src/audit/audit-log.ts';
import { createCategories } from '../../src/categories/categories.ts';
import { systemClock } from '../../src/clock.ts';
import { createEventIds } from '../../src/events/event-ids.ts';
import { writeEvents } from '../../src/events/event-json.ts';
import type { EventReader } from '../../src/events/event-reader.ts';
import { expireEvents, keptMs } from '../../src/events/expire-events.ts';
import { createFeed, type Feed, type FeedQuery } from '../../src/events/feed.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { stringifyExactJson } from '../../src/exact-json.ts';
import { createFirstAnswers } from '../../src/idempotency/answer-once.ts';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import { createBatches } from '../../src/storage/batches.ts';
import { type Engine, findEngines } from '../support/engines.ts';

import { openShop } from './order-shop.ts';

const actor: Actor = { kind: 'command', name: 'mira' };
const ids = createEventIds(Buffer.alloc(32));

/** A reader that may see every event. */
const manager: EventReader = { accountId: 0n, seesPets: true, seesOrders: 'all' };

interface ShownEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly previous?: object;
}

async function openFeedShop(t: TestContext, engine: Engine) {
  const shop = await openShop(t, engine);
  const { database } = shop;
  const feed = createFeed(database, Date.now);
  const catalogue = createCatalogue(database, createFirstAnswers(database));

  /** Assigns positions to all committed events, then returns a page as the reader sees it. */
  async function show(reader = manager, query: Partial<FeedQuery> = {}) {
    await sequenceEvents(database);
    const page = await feed.read({ start: 'oldest', limit: 100, ...query }, reader);
    return { ...page, shown: JSON.parse(writeEvents(page.events, reader, ids)) as ShownEvent[] };
  }
  const types = async (reader?: EventReader) => (await show(reader)).shown.map(({ type }) => type);
  return { ...shop, feed, catalogue, categories: createCategories(database, systemClock), show, types };
}

/** Returns the ids of all events, read page by page. */
async function walk(feed: Feed, reader: EventReader, limit: number): Promise<bigint[]> {
  const met: bigint[] = [];
  for (let start: FeedQuery['start'] = 'oldest'; ; ) {
    const page = await feed.read({ start, limit }, reader);
    if (page.events.length === 0) return met;
    met.push(...page.events.map(({ id }) => id));
    start = page.next;
  }
}

async function readEnd(feed: Feed): Promise<bigint> {
  return (await feed.read({ start: 'now', limit: 1 }, manager)).next;
}

/** Returns SQL that makes all events `ms` older. */
const setAge = (ms: number) => `update events set at_ms = at_ms - ${ms}`;

function describeEvents(engine: Engine): void {
  describe(`the event feed on ${engine.name}`, { skip: engine.skip }, () => {
    test('has an event for each change, with the new object and the previous values of the changed fields', async (t) => {
      const { catalogue, categories, show } = await openFeedShop(t, engine);
      const big = 9_223_372_036_854_775_807n;
      const { id } = await catalogue.add({ name: 'Rex "é" 猫', categoryId: 1n });
      await catalogue.change(id, { name: 'Max' }, null);
      await catalogue.change(id, { status: 'pending', name: 'Max' }, null);
      await catalogue.remove(id, null);
      await categories.put({ id: 7n, name: 'Dogs' }, actor);
      await categories.put({ id: 7n, name: 'Dogs' }, actor);
      await categories.put({ id: 7n, name: 'Hounds' }, actor);
      await categories.remove(7n, actor);
      await catalogue.add({ name: 'Big', categoryId: big });
      const { shown, events } = await show();
      const pet = { id: Number(id), name: 'Max', categoryId: 1 };
      assert.deepEqual(
        shown.slice(0, -1).map(({ type, data, previous }) => [type, data, previous]),
        [
          ['pet.added', { ...pet, name: 'Rex "é" 猫', status: 'available' }, undefined],
          ['pet.updated', { ...pet, status: 'available' }, { name: 'Rex "é" 猫' }],
          ['pet.updated', { ...pet, status: 'pending' }, { status: 'available' }],
          ['pet.deleted', { ...pet, status: 'pending' }, undefined],
          ['category.updated', { id: 7, name: 'Dogs' }, undefined],
          ['category.updated', { id: 7, name: 'Hounds' }, { name: 'Dogs' }],
          ['category.deleted', { id: 7, name: 'Hounds' }, undefined],
        ],
      );
      assert.match(writeEvents(events, manager, ids), /"categoryId":9223372036854775807,/);
      assert.deepEqual(Object.keys(shown[0] ?? {}), ['id', 'type', 'timestamp', 'data']);
      assert.match(shown[0]?.timestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.deepEqual(
        shown.map(({ id: text }) => text),
        shown.map(({ id: text }) => text).toSorted(),
      );
    });

    test('has each order event after the event of its animal, with the same order that the operations return', async (t) => {
      const { orders, show, place, addBuyer, addPet } = await openFeedShop(t, engine);
      const buyer = await addBuyer();
      const order = await place(buyer, await addPet(), { reference: 'A-1' });
      await orders.close('complete', order.id, buyer);
      await orders.close('return', order.id, { ...buyer, isManager: true });
      const { shown } = await show();
      const expected = ['reserved', 'completed', 'returned'].flatMap((to) => ['pet.updated', `order.${to}`]);
      assert.deepEqual(
        shown.map(({ type }) => type),
        ['pet.added', ...expected],
      );
      const got = JSON.parse(stringifyExactJson(await orders.get(order.id, { ...buyer, isManager: true })));
      assert.deepEqual(shown.at(-1)?.data, got);
      const own = await show({ accountId: buyer.accountId, seesPets: false, seesOrders: 'own' });
      const { account: _, ...withoutAccount } = got;
      assert.deepEqual(own.shown.at(-1)?.data, withoutAccount);
      assert.equal(own.shown.at(0)?.data['reference'], 'A-1');
    });

    test('shows each reader only the events that its scopes and its account allow', async (t) => {
      const { types, place, addBuyer, addPet } = await openFeedShop(t, engine);
      const [one, other] = [await addBuyer(), await addBuyer()];
      for (const buyer of [one, other]) await place(buyer, await addPet());
      const pets = ['pet.added', 'pet.updated'];
      const reader = { accountId: one.accountId, seesPets: true, seesOrders: 'none' } as const;
      assert.deepEqual(await types(reader), [...pets, ...pets]);
      assert.deepEqual(await types({ ...reader, seesOrders: 'own' }), [...pets, 'order.reserved', ...pets]);
      assert.deepEqual(await types({ ...reader, seesPets: false, seesOrders: 'own' }), ['order.reserved']);
      assert.deepEqual(await types({ ...reader, seesPets: false, seesOrders: 'all' }), [
        'order.reserved',
        'order.reserved',
      ]);
      assert.deepEqual(await types({ ...reader, seesPets: false }), []);
      assert.equal((await types()).length, 6);
    });

    test('shows nobody an event of a type that this release does not know', async (t) => {
      const { store, types, addBuyer, addPet } = await openFeedShop(t, engine);
      const { accountId } = await addBuyer();
      await addPet();
      await types();
      for (const account of ['null', String(accountId)])
        await store.execute(
          `insert into events (at_ms, type, account_id, data) values (1, 'customer.added', ${account}, '{"id":1}')`,
        );
      for (const seesPets of [true, false])
        for (const seesOrders of ['all', 'own', 'none'] as const)
          assert.deepEqual(await types({ accountId, seesPets, seesOrders }), seesPets ? ['pet.added'] : []);
    });

    test('has every event once and in the same order in pages of any size, and a page that starts after those that its reader may not see', async (t) => {
      const { database, feed, addPets } = await openFeedShop(t, engine);
      await addPets(25);
      await sequenceEvents(database, createBatches(7));
      const all = await walk(feed, manager, 100);
      assert.equal(all.length, 25);
      assert.deepEqual(
        all,
        all.toSorted((a, b) => Number(a - b)),
      );
      for (const limit of [1, 5, 24, 25, 26]) assert.deepEqual(await walk(feed, manager, limit), all);
      const blind = { accountId: 1n, seesPets: false, seesOrders: 'own' } as const;
      const page = await feed.read({ start: 'oldest', limit: 5 }, blind);
      assert.deepEqual(page, { events: [], next: await readEnd(feed) });
    });

    test('is empty at first, a position from then is before the first event, and one after the end or in a gap is refused', async (t) => {
      const { store, feed, show, addPet } = await openFeedShop(t, engine);
      for (const start of ['oldest', 'now', 0n] as const)
        assert.deepEqual(await feed.read({ start, limit: 1 }, manager), { events: [], next: 0n });
      await addPet();
      const { events, next } = await show(manager, { start: 0n });
      assert.equal(events.length, 1);
      await assert.rejects(feed.read({ start: next + 1n, limit: 1 }, manager), { code: 'invalid_parameter' });
      // Only a server that was taken over may have given a position in a gap.
      await store.execute(`insert into event_gaps values (${next}, ${next + 10n})`);
      for (const start of [next + 1n, next + 9n])
        await assert.rejects(feed.read({ start, limit: 1 }, manager), { code: 'events_expired' });
      for (const start of [next, next + 10n, 'now'] as const)
        assert.deepEqual(await feed.read({ start, limit: 1 }, manager), { events: [], next: next + 10n });
      await assert.rejects(feed.read({ start: next + 11n, limit: 1 }, manager), {
        code: 'invalid_parameter',
      });
    });

    test('deletes events after 30 days, in steps up to the first younger one, refuses a position before deleted events, and continues from the last one when none is left', async (t) => {
      const { store, database, feed, show, addPets } = await openFeedShop(t, engine);
      await addPets(10);
      const { events: old, next } = await show();
      await addPets(3);
      await sequenceEvents(database);
      await store.execute(`${setAge(keptMs + 1_000)} where id <= ${next} or id = ${next + 2n}`);
      await expireEvents(database, 4);
      const { events: kept } = await show();
      assert.deepEqual(
        kept.map(({ id }) => id),
        [next + 1n, next + 2n, next + 3n],
      );
      assert.deepEqual((await feed.read({ start: next, limit: 3 }, manager)).events, kept);
      for (const start of [0n, old.at(-2)?.id ?? 0n])
        await assert.rejects(feed.read({ start, limit: 1 }, manager), { code: 'events_expired' });
      await store.execute(setAge(keptMs + 1_000));
      await expireEvents(database);
      const end = next + 3n;
      for (const start of [end, 'now'] as const)
        assert.deepEqual(await feed.read({ start, limit: 1 }, manager), { events: [], next: end });
      await addPets(1);
      assert.equal((await show(manager, { start: end })).events.length, 1);
    });

    describeWaiting(engine);
  });
}

function describeWaiting(engine: Engine): void {
  const limit = 20;
  const patient = { seconds: 20, keyId: 'key_1', onGone: () => undefined, noteHeld: () => undefined };
  const start = async (feed: Feed) => ({ start: await readEnd(feed), limit });

  test('lets an empty page wait for the first event that its reader may see', async (t) => {
    const { database, feed, addPet, addBuyer, place } = await openFeedShop(t, engine);
    const [buyer, pet] = [await addBuyer(), await addPet()];
    await sequenceEvents(database);
    const from = await start(feed);
    const reader = { accountId: buyer.accountId, seesPets: false, seesOrders: 'own' } as const;
    const waiting = feed.readOrWait(from, reader, patient);
    const other = feed.readOrWait(from, manager, patient);
    await untilWaiting(feed, 2);
    await addPet();
    await sequenceEvents(database);
    assert.deepEqual(
      (await other).events.map(({ type }) => type),
      ['pet.added'],
    );
    await place(buyer, pet);
    await sequenceEvents(database);
    const page = await waiting;
    assert.deepEqual(
      page.events.map(({ type }) => type),
      ['order.reserved'],
    );
    assert.equal(page.next, await readEnd(feed));
    assert.equal(feed.countWaiting(), 0);
  });

  test('returns the first events after the position of a waiting page, even if many events come at once', async (t) => {
    const { database, feed, addPets } = await openFeedShop(t, engine);
    const from = await start(feed);
    const waiting = feed.readOrWait({ ...from, limit: 2 }, manager, patient);
    await untilWaiting(feed, 1);
    await addPets(5);
    await sequenceEvents(database);
    const first = await waiting;
    const rest = await feed.read({ start: first.next, limit: 100 }, manager);
    assert.deepEqual([first.events.length, rest.events.length], [2, 3]);
  });

  for (const ending of ['an event', 'the end of its time'])
    for (const [what, code] of [
      ['revoked_at_ms', 'api_key_revoked'],
      ['expires_at_ms', 'api_key_expired'],
      ['suspended_at_ms', 'account_suspended'],
    ] as const)
      test(`ends a wait by ${ending} with the error of a key whose ${what} came during the wait`, async (t) => {
        const { store, database, feed, addPet, addBuyer } = await openFeedShop(t, engine);
        const { accountId } = await addBuyer();
        const bytes = engine.name === 'SQLite' ? `x'00'` : `'\\x00'`;
        await store.execute(`insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
          values ('key_1', ${accountId}, ${bytes}, 'as_dev_', 'pets:read', 1)`);
        const held: number[] = [];
        const wait = {
          ...patient,
          seconds: ending === 'an event' ? 20 : 1,
          noteHeld: (ms: number) => void held.push(ms),
        };
        const refused = assert.rejects(feed.readOrWait(await start(feed), manager, wait), { code });
        await untilWaiting(feed, 1);
        const table = what === 'suspended_at_ms' ? 'accounts' : 'api_keys';
        await store.execute(`update ${table} set ${what} = 1`);
        if (ending === 'an event') await addPet();
        await sequenceEvents(database);
        await refused;
        assert.equal(held.length, 1);
      });
}

async function untilWaiting(feed: Feed, count: number): Promise<void> {
  while (feed.countWaiting() < count) await new Promise((resolve) => setImmediate(resolve));
}

for (const engine of await findEngines()) describeEvents(engine);
