import { test } from 'node:test';
import fc from 'fast-check';
import { asManager, openShop } from '../contracts/order-shop.ts';
import { type Engine, findPostgres, sqliteEngine } from '../support/engines.ts';
import { commands, compare, type Model } from './order-model.ts';

const pets = 7;
const buyers = 3;

for (const [engine, numRuns] of [
  [sqliteEngine, 25],
  [await findPostgres(), 12],
] as readonly (readonly [Engine, number])[])
  test(`any history of orders leaves the same state in ${engine.name} as in the model`, {
    skip: engine.skip,
  }, async (t) => {
    const shop = await openShop(t, engine);
    await fc.assert(
      fc.asyncProperty(commands(pets, buyers), async (history) => {
        const animals = [];
        for (let n = 0; n < pets; n += 1) animals.push(await shop.addPet());
        const readers = [
          await shop.addBuyer('free'),
          await shop.addBuyer('free'),
          asManager(await shop.addBuyer('free')),
        ];
        await shop.takeEvents();
        const model: Model = { orders: [], events: [] };
        const real = { shop, pets: animals, buyers: readers };
        await fc.asyncModelRun(() => ({ model, real }), history);
        await compare(model, real);
        await shop.store.execute(`update orders set expires_at_ms = 9000000000000 where status = 'reserved'`);
      }),
      { numRuns },
    );
  });
