import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventTypes } from '../../src/events/event.ts';
import { type EventReader, listReadableTypes } from '../../src/events/event-reader.ts';
import { selectPageFor, selectTypedPageFor } from '../../src/events/feed-page.ts';
import type { Parameters, Statement } from '../../src/storage/database.ts';
import {
  countLeft,
  leftMax,
  passEvents,
  selectDue,
  selectLags,
  selectSending,
} from '../../src/webhooks/delivery-rows.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { accounts, fillTables, keepStatistics, largeRows } from '../support/large-store.ts';
import { openMeter } from '../support/meter.ts';

/** The size of a page. The reader may not see all of the events that a page reads, but at least half of them. */
const count = 100n;
const rowsMax = 10 * Number(count);
const positions = [0, largeRows / 2, largeRows - 10].map(BigInt);

const readers: Readonly<Record<string, EventReader>> = {
  'that sees everything': { accountId: accounts.many, seesPets: true, seesOrders: 'all' },
  'that sees animals and few orders': { accountId: accounts.few, seesPets: true, seesOrders: 'own' },
  'that sees animals alone': { accountId: accounts.few, seesPets: true, seesOrders: 'none' },
  'that sees few orders': { accountId: accounts.few, seesPets: false, seesOrders: 'own' },
  'that sees many orders': { accountId: accounts.many, seesPets: false, seesOrders: 'own' },
  'that sees all orders': { accountId: accounts.few, seesPets: false, seesOrders: 'all' },
};

/** Opens a store whose statistics are those of an empty feed. */
async function openLargeFeed(t: TestContext, engine: Engine) {
  const store = await engine.createStore(t);
  await keepStatistics(engine, store);
  await fillTables(engine, store, ['events']);
  const meter = await openMeter(t, engine, store);
  return {
    store,
    async expectCheap<P extends Parameters>(
      of: string,
      target: Statement<P, unknown>,
      parameters: P,
      most = rowsMax,
    ) {
      const { rows, plan } = await meter.measure(target, parameters);
      assert.ok(rows <= most, `${of}: ${rows} rows\n${plan}`);
    },
  };
}

await describeOnEngines('in a large feed', (engine) => {
  test('a page costs a page for every reader, whatever the statistics', async (t) => {
    const { store, expectCheap } = await openLargeFeed(t, engine);
    for (const statistics of ['old', 'new']) {
      for (const [name, reader] of Object.entries(readers))
        for (const after of positions) {
          const page = { after, count, accountId: reader.accountId };
          const of = `a reader ${name} after ${after}, ${statistics} statistics`;
          await expectCheap(of, selectPageFor(reader), page);
        }
      await store.execute('analyze');
    }
  });

  test('a page of some types costs at most a page of each type, whatever the statistics', async (t) => {
    const { store, expectCheap } = await openLargeFeed(t, engine);
    for (const statistics of ['old', 'new']) {
      for (const [name, reader] of Object.entries(readers)) {
        const readable = listReadableTypes(reader);
        for (const types of [readable, ...readable.map((type) => [type])])
          for (const after of positions) {
            const page = { after, count, accountId: reader.accountId, types: types.join(' ') };
            await expectCheap(
              `${types} for a reader ${name} after ${after}, ${statistics}`,
              selectTypedPageFor(reader),
              page,
              rowsMax + types.length * Number(count),
            );
          }
      }
      await store.execute('analyze');
    }
  });

  test('the next event of a webhook costs a search for each of its types, whatever the statistics', async (t) => {
    const { store, expectCheap } = await openLargeFeed(t, engine);
    await store.execute(
      `insert into accounts (name, plan, created_at_ms) values ('few', 'free', 1), ('many', 'free', 1)`,
    );
    const rows = positions.map(
      (
        position,
      ) => `('wh_${position}', ${accounts.many}, 'key_1', 'https://shop.example', '${eventTypes.join(' ')}', 1, 'own',
        'enabled', ${position}, 0, 0, 0, 1)`,
    );
    await store.execute(`insert into webhooks (public_id, account_id, key_id, url, types, sees_pets, sees_orders,
      status, position, revision, failures, next_attempt_at_ms, created_at_ms) values ${rows.join()}`);
    for (const statistics of ['old', 'new']) {
      for (const id of [1n, 2n, 3n]) await expectCheap(`webhook ${id}, ${statistics}`, selectSending, { id });
      for (const id of [1n, 2n, 3n])
        await expectCheap(`events left of ${id}, ${statistics}`, countLeft, { id }, 4 * leftMax);
      await expectCheap(`all, ${statistics}`, selectDue, { afterPosition: -1n, afterId: 0n, count });
      await expectCheap(`a move of all, ${statistics}`, passEvents, { ids: '[1,2,3]' });
      await expectCheap(`lags, ${statistics}`, selectLags, {});
      await store.execute('analyze');
    }
  });
});
