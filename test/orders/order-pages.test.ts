import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { selectOrders } from '../../src/orders/order-rows.ts';
import { insertOrder } from '../../src/orders/place-order-rows.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { openShop } from '../contracts/order-shop.ts';
import { sqliteEngine } from '../support/engines.ts';

const none = { status: null, petId: null, reference: null, accountId: null };

/** Along which indexes SQLite, which has no statistics, finds a page of each filter. */
const plans = [
  [none, ['PRIMARY KEY']],
  [{ ...none, accountId: 1n }, ['orders_by_account ']],
  [{ ...none, status: 'completed' }, ['orders_by_status ']],
  [{ ...none, status: 'reserved', accountId: 1n }, ['orders_by_account_and_status ']],
  [{ ...none, status: 'expired' }, ['orders_by_status ', 'orders_by_expiry ']],
  [{ ...none, status: 'expired', accountId: 1n }, ['orders_by_account_and_status ', 'orders_by_expiry ']],
  [{ ...none, petId: 1n, accountId: 1n, status: 'cancelled' }, ['orders_by_pet ']],
  [{ ...none, reference: 'a', petId: 1n, accountId: 1n }, ['orders_by_reference ']],
] as const;

test('on SQLite a page is found along the index of its narrowest filter', async (t) => {
  const shop = await openShop(t, sqliteEngine);
  const file = new DatabaseSync(shop.store.url.replace('sqlite:', ''));
  t.after(() => file.close());
  for (const [filter, indexes] of plans) {
    const { sql, names } = compileStatement(selectOrders(filter), 'sqlite');
    const rows = file.prepare(`explain query plan ${sql}`).all(...names.map(() => 1));
    const told = rows.map(({ detail }) => `${detail} `).filter((detail) => detail.includes(' orders '));
    assert.equal(told.length, indexes.length, JSON.stringify(rows));
    for (const index of indexes)
      assert.ok(
        told.some((line) => line.includes(index)),
        `${index}: ${told}`,
      );
  }
});

test('on SQLite the open holds of an account are counted along their own index, whatever it has ordered before', async (t) => {
  const shop = await openShop(t, sqliteEngine);
  const file = new DatabaseSync(shop.store.url.replace('sqlite:', ''));
  t.after(() => file.close());
  const { sql, names } = compileStatement(insertOrder, 'sqlite');
  const rows = file.prepare(`explain query plan ${sql}`).all(...names.map(() => 1));
  const told = rows.map(({ detail }) => `${detail} `).filter((detail) => detail.includes(' orders '));
  assert.equal(told.length, 1);
  assert.match(told.join(), /orders_open \(account_id=\? AND expires_at_ms>\?\)/);
});
