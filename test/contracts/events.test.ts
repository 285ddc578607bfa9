import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Actor } from '../../src/audit/audit-log.ts';
import { createCategories } from '../../src/categories/categories.ts';
import { systemClock } from '../../src/clock.ts';
import { createEventIds } from '../../src/events/event-ids.ts';
import { writeEvents } from '../../src/events/event-json.ts';
import { type EventReader, everything } from '../../src/events/event-reader.ts';
import { expireEvents, keptMs } from '../../src/events/expire-events.ts';
import { createFeed, type Feed, type FeedQuery, readFeed } from '../../src/events/feed.ts';
import type { FeedPage } from '../../src/events/feed-page.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { stringifyExactJson } from '../../src/exact-json.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { asManager, openShop } from './order-shop.ts';

const actor: Actor = { kind: 'command', name: 'mira' };
const ids = createEventIds(Buffer.alloc(32));

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
  const read = (start: FeedQuery['start'], limit = 1, reader = everything) =>
    readFeed(database, { start, limit }, reader);

  /** Assigns positions to all committed events, then returns a page as the reader sees it. */
  async function show(reader = everything, start: FeedQuery['start'] = 'oldest') {
    await sequenceEvents(database);
    const page = await read(start, 100, reader);
    return { ...page, shown: JSON.parse(writeEvents(page.events, reader, ids)) as ShownEvent[] };
  }

  return {
    ...shop,
    feed: createFeed(database, Date.now),
    catalogue: openCatalogue(database),
    categories: createCategories(database, systemClock),
    sequence: () => sequenceEvents(database),
    read,
    readEnd: async () => (await read('now')).next,
    show,
    showTypes: async (reader?: EventReader) => (await show(reader)).shown.map(({ type }) => type),
    async walk(limit: number): Promise<bigint[]> {
      const met: bigint[] = [];
      for (let start: FeedQuery['start'] = 'oldest'; ; ) {
        const page = await read(start, limit);
        if (page.events.length === 0) return met;
        met.push(...idsOf(page));
        start = page.next;
      }
    },
    async expectRefused(starts: readonly bigint[], code: string): Promise<void> {
      for (const start of starts) await assert.rejects(read(start), { code }, String(start));
    },
    /** Throws unless each page is empty and its next page begins after a position. */
    async expectEmpty(starts: readonly FeedQuery['start'][], next: bigint): Promise<void> {
      for (const start of starts) assert.deepEqual(await read(start), { events: [], next }, String(start));
    },
  };
}

const idsOf = ({ events }: FeedPage) => events.map(({ id }) => id);
const typesOf = ({ events }: FeedPage) => events.map(({ type }) => type);

/** SQL that makes all events older than they are kept. */
const endEvents = `update events set at_ms = at_ms - ${keptMs + 1_000}`;

await describeOnEngines('the event feed', (engine) => {
  test('has an event for each change, with the new object and the previous values of the changed fields', async (t) => {
    const { catalogue, categories, show } = await openFeedShop(t, engine);
    const big = 9_223_372_036_854_775_807n;
    const { id } = await catalogue.add({ name: 'Rex "é" 猫', categoryId: 1n });
    await catalogue.change(id, { name: 'Max' }, null);
    await catalogue.change(id, { status: 'pending', name: 'Max' }, null);
    await catalogue.remove(id, null);
    for (const name of ['Dogs', 'Dogs', 'Hounds']) await categories.put({ id: 7n, name }, actor);
    await categories.remove(7n, actor);
    await catalogue.add({ name: 'Big', categoryId: big });
    const { shown, events } = await show();
    const pet = { id: Number(id), name: 'Max', categoryId: 1 };
    const told = shown.slice(0, -1).map(({ type, data, previous }) => [type, data, previous]);
    assert.deepEqual(told, [
      ['pet.added', { ...pet, name: 'Rex "é" 猫', status: 'available' }, undefined],
      ['pet.updated', { ...pet, status: 'available' }, { name: 'Rex "é" 猫' }],
      ['pet.updated', { ...pet, status: 'pending' }, { status: 'available' }],
      ['pet.deleted', { ...pet, status: 'pending' }, undefined],
      ['category.updated', { id: 7, name: 'Dogs' }, undefined],
      ['category.updated', { id: 7, name: 'Hounds' }, { name: 'Dogs' }],
      ['category.deleted', { id: 7, name: 'Hounds' }, undefined],
    ]);
    assert.match(writeEvents(events, everything, ids), /"categoryId":9223372036854775807,/);
    assert.deepEqual(Object.keys(shown[0] ?? {}), ['id', 'type', 'timestamp', 'data']);
    assert.match(shown[0]?.timestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const shownIds = shown.map(({ id: text }) => text);
    assert.deepEqual(shownIds, shownIds.toSorted());
  });

  test('has each order event after the event of its animal, with the same order that the operations return', async (t) => {
    const { orders, show, place, addBuyer, addPet } = await openFeedShop(t, engine);
    const buyer = await addBuyer();
    const manager = asManager(buyer);
    const order = await place(buyer, await addPet(), { reference: 'A-1' });
    await orders.close('complete', order.id, buyer);
    await orders.close('return', order.id, manager);
    const page = await show();
    const expected = ['reserved', 'completed', 'returned'].flatMap((to) => ['pet.updated', `order.${to}`]);
    assert.deepEqual(typesOf(page), ['pet.added', ...expected]);
    const got = JSON.parse(stringifyExactJson(await orders.get(order.id, manager)));
    assert.deepEqual(page.shown.at(-1)?.data, got);
    const own = await show({ accountId: buyer.accountId, seesPets: false, seesOrders: 'own' });
    const { account: _, ...withoutAccount } = got;
    assert.deepEqual(own.shown.at(-1)?.data, withoutAccount);
    assert.equal(own.shown.at(0)?.data['reference'], 'A-1');
  });

  test('shows each reader only the events that its scopes and its account allow', async (t) => {
    const { showTypes, place, addBuyer, addPet } = await openFeedShop(t, engine);
    const [one, other] = [await addBuyer(), await addBuyer()];
    for (const buyer of [one, other]) await place(buyer, await addPet());
    const ofPet = ['pet.added', 'pet.updated'];
    for (const [seesPets, seesOrders, types] of [
      [true, 'none', [...ofPet, ...ofPet]],
      [true, 'own', [...ofPet, 'order.reserved', ...ofPet]],
      [false, 'own', ['order.reserved']],
      [false, 'all', ['order.reserved', 'order.reserved']],
      [false, 'none', []],
    ] as const)
      assert.deepEqual(await showTypes({ accountId: one.accountId, seesPets, seesOrders }), types);
    assert.equal((await showTypes()).length, 6);
  });

  test('shows nobody an event of a type that this release does not know', async (t) => {
    const { store, sequence, showTypes, addBuyer, addPet } = await openFeedShop(t, engine);
    const { accountId } = await addBuyer();
    await addPet();
    await sequence();
    for (const account of ['null', String(accountId)])
      await store.execute(`insert into events (at_ms, type, account_id, data)
        values (1, 'customer.added', ${account}, '{"id":1}')`);
    for (const seesPets of [true, false])
      for (const seesOrders of ['all', 'own', 'none'] as const)
        assert.deepEqual(await showTypes({ accountId, seesPets, seesOrders }), seesPets ? ['pet.added'] : []);
  });

  test('has every event once and in the same order in pages of any size', async (t) => {
    const { database, walk, addPets } = await openFeedShop(t, engine);
    await addPets(25);
    await sequenceEvents(database, undefined, 7);
    const all = await walk(100);
    assert.equal(all.length, 25);
    const sorted = all.toSorted((a, b) => Number(a - b));
    assert.deepEqual(all, sorted);
    for (const limit of [1, 5, 24, 25, 26]) assert.deepEqual(await walk(limit), all);
  });

  test('moves a reader past the events that it may not see', async (t) => {
    const { sequence, read, readEnd, addPets } = await openFeedShop(t, engine);
    await addPets(25);
    await sequence();
    const blind = { accountId: 1n, seesPets: false, seesOrders: 'own' } as const;
    assert.deepEqual(await read('oldest', 5, blind), { events: [], next: await readEnd() });
  });

  test('has a position before the first event while it is empty', async (t) => {
    const { show, addPet, expectEmpty } = await openFeedShop(t, engine);
    await expectEmpty(['oldest', 'now', 0n], 0n);
    await addPet();
    assert.equal((await show(everything, 0n)).events.length, 1);
  });

  test('refuses a position after its end or in a gap', async (t) => {
    const { store, show, addPet, expectEmpty, expectRefused } = await openFeedShop(t, engine);
    await addPet();
    const { next } = await show();
    await expectRefused([next + 1n], 'invalid_parameter');
    // Only a server that was taken over may have given a position in a gap.
    await store.execute(`insert into event_gaps values (${next}, ${next + 10n})`);
    await expectRefused([next + 1n, next + 9n], 'events_expired');
    await expectEmpty([next, next + 10n, 'now'], next + 10n);
    await expectRefused([next + 11n], 'invalid_parameter');
  });

  test('deletes events after 30 days, up to the first younger one', async (t) => {
    const { store, database, sequence, read, show, addPets } = await openFeedShop(t, engine);
    await addPets(10);
    const { next } = await show();
    await addPets(3);
    await sequence();
    await store.execute(`${endEvents} where id <= ${next} or id = ${next + 2n}`);
    await expireEvents(database, 4);
    const kept = await show();
    assert.deepEqual(idsOf(kept), [next + 1n, next + 2n, next + 3n]);
    assert.deepEqual((await read(next, 3)).events, kept.events);
  });

  test('refuses a position before deleted events', async (t) => {
    const { store, database, sequence, show, addPets, expectRefused } = await openFeedShop(t, engine);
    await addPets(10);
    const { events: old, next } = await show();
    await addPets(3);
    await sequence();
    await store.execute(`${endEvents} where id <= ${next}`);
    await expireEvents(database);
    await expectRefused([0n, old.at(-2)?.id ?? 0n], 'events_expired');
  });

  test('continues from the last event when none is left', async (t) => {
    const { store, database, show, addPets, expectEmpty } = await openFeedShop(t, engine);
    await addPets(3);
    const { next: end } = await show();
    await store.execute(endEvents);
    await expireEvents(database);
    await expectEmpty([end, 'now'], end);
    await addPets(1);
    assert.equal((await show(everything, end)).events.length, 1);
  });

  describeWaiting(engine);
});

function describeWaiting(engine: Engine): void {
  const patient = { seconds: 20, keyId: 'key_1', onGone: () => undefined, noteHeld: () => undefined };

  test('lets an empty page wait for the first event that its reader may see', async (t) => {
    const { feed, sequence, readEnd, addPet, addBuyer, place } = await openFeedShop(t, engine);
    const [buyer, pet] = [await addBuyer(), await addPet()];
    await sequence();
    const from = { start: await readEnd(), limit: 20 };
    const reader = { accountId: buyer.accountId, seesPets: false, seesOrders: 'own' } as const;
    const waiting = feed.readOrWait(from, reader, patient);
    const other = feed.readOrWait(from, everything, patient);
    await untilWaiting(feed, 2);
    await addPet();
    await sequence();
    assert.deepEqual(typesOf(await other), ['pet.added']);
    await place(buyer, pet);
    await sequence();
    const page = await waiting;
    assert.deepEqual(typesOf(page), ['order.reserved']);
    assert.equal(page.next, await readEnd());
    assert.equal(feed.countWaiting(), 0);
  });

  test('returns the first events after the position of a waiting page, even if many events come at once', async (t) => {
    const { feed, sequence, read, readEnd, addPets } = await openFeedShop(t, engine);
    const waiting = feed.readOrWait({ start: await readEnd(), limit: 2 }, everything, patient);
    await untilWaiting(feed, 1);
    await addPets(5);
    await sequence();
    const first = await waiting;
    const rest = await read(first.next, 100);
    assert.deepEqual([first.events.length, rest.events.length], [2, 3]);
  });

  /** Opens a feed whose bound of waits is 2, with as many waits. */
  async function openFull(t: TestContext) {
    const { database } = await openFeedShop(t, engine);
    const feed = createFeed(database, Date.now, 2);
    const wait = () => feed.readOrWait({ start: 'now', limit: 1 }, everything, patient);
    const waits = [wait(), wait()];
    await untilWaiting(feed, 2);
    return { feed, wait, waits };
  }

  test('refuses a wait beyond the bound', async (t) => {
    const { feed, wait, waits } = await openFull(t);
    const message = 'too many requests are waiting for events; try again';
    await assert.rejects(wait(), { code: 'unavailable', message });
    feed.stopWaiting();
    await Promise.all(waits);
  });

  test('ends every wait when it is stopped', async (t) => {
    const { feed, wait, waits } = await openFull(t);
    feed.stopWaiting();
    for (const waiting of [...waits, wait()]) assert.deepEqual((await waiting).events, []);
    assert.equal(feed.countWaiting(), 0);
  });

  test('a wait that is stopped while its key is checked misses no event', async (t) => {
    const { database, addPets, sequence, read, readEnd } = await openFeedShop(t, engine);
    const [checked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const feed = createFeed(
      {
        ...database,
        async read(statement, parameters) {
          if ('ids' in (parameters as object)) {
            checked.resolve();
            await goesOn.promise;
          }
          return await database.read(statement, parameters);
        },
      },
      Date.now,
    );
    const waiting = feed.readOrWait({ start: await readEnd(), limit: 2 }, everything, patient);
    await untilWaiting(feed, 1);
    await addPets(1);
    await sequence();
    await checked.promise;
    feed.stopWaiting();
    goesOn.resolve();
    const { events, next } = await waiting;
    assert.equal(events.length + (await read(next, 100)).events.length, 1);
  });

  for (const ending of ['an event', 'the end of its time'])
    for (const [table, column, code] of [
      ['api_keys', 'revoked_at_ms', 'api_key_revoked'],
      ['api_keys', 'expires_at_ms', 'api_key_expired'],
      ['accounts', 'suspended_at_ms', 'account_suspended'],
    ] as const)
      test(`ends a wait by ${ending} with the error of a key whose ${column} came during the wait`, async (t) => {
        const { store, feed, sequence, readEnd, addPet, addBuyer } = await openFeedShop(t, engine);
        const { keyId } = await addBuyer();
        const held: number[] = [];
        const seconds = ending === 'an event' ? 20 : 1;
        const wait = { ...patient, keyId, seconds, noteHeld: (ms: number) => void held.push(ms) };
        const from = { start: await readEnd(), limit: 20 };
        const refused = assert.rejects(feed.readOrWait(from, everything, wait), { code });
        await untilWaiting(feed, 1);
        await store.execute(`update ${table} set ${column} = 1`);
        if (ending === 'an event') await addPet();
        await sequence();
        await refused;
        assert.equal(held.length, 1);
      });
}

async function untilWaiting(feed: Feed, count: number): Promise<void> {
  while (feed.countWaiting() < count) await new Promise((resolve) => setImmediate(resolve));
}
