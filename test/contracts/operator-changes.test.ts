import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Actor } from '../../src/audit/audit-log.ts';
import { everyAccount } from '../../src/orders/orders.ts';
import { openStore, type Store } from '../../src/store.ts';
import { fieldsOf, makePlan, order } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';
import type { Ending } from '../support/service.ts';

const nowMs = Date.UTC(2027, 0, 2, 12);
const mira: Actor = { kind: 'console', name: 'mira in console_1' };

await describeOnEngines('actions of an operator', ({ createStore }) => {
  async function open(t: Ending) {
    const { url } = await createStore(t);
    const config = { databaseUrl: url, environment: 'staging' } as const;
    const store = await openStore(config, () => nowMs);
    t.after(() => store.close());
    const changes = store.changeAs(mira);
    async function listEntries() {
      const { items } = await store.audit.list({ limit: 100, actor: mira.name });
      for (const { actor } of items) assert.deepEqual(actor, mira);
      return fieldsOf(items.toReversed(), 'action', 'subject', 'before', 'after');
    }
    return { store, changes, listEntries };
  }

  test('the audit log has exactly the fields that an edit, an addition or a deletion changes', async (t) => {
    const { store, changes, listEntries } = await open(t);
    const { id } = await changes.addPet({ name: 'Hapy', categoryId: 1n });
    const changed = await changes.changePet(id, { name: 'Happy', categoryId: 1n }, null);
    assert.equal(changed.name, 'Happy');
    await changes.changePet(id, { name: 'Happy' }, null);
    await changes.deletePet(id);
    for (const name of ['Dogs', 'Hounds']) await changes.putCategory({ id: 3n, name });
    await changes.deleteCategory(3n);
    assert.equal(await store.catalogue.get(id), null);
    const all = { name: 'Happy', categoryId: 1n, status: 'available' };
    assert.deepEqual(await listEntries(), [
      ['pet.added', String(id), null, { ...all, name: 'Hapy' }],
      ['pet.changed', String(id), { name: 'Hapy' }, { name: 'Happy' }],
      ['pet.deleted', String(id), all, null],
      ['category.changed', '3', null, { name: 'Dogs' }],
      ['category.changed', '3', { name: 'Dogs' }, { name: 'Hounds' }],
      ['category.deleted', '3', { name: 'Hounds' }, null],
    ]);
  });

  async function placeOrder({ keyring, catalogue, orders }: Store, name: string) {
    const { id: keyId } = await keyring.issue(order({ account: 'Happy Paws', plan: makePlan('pro') }));
    const key = { accountId: 1n, keyId, nowMs: 0, isManager: true };
    const { id: petId } = await catalogue.add({ name, categoryId: 1n });
    const hold = { petId, holdMs: 3_600_000, reference: null };
    await orders.place(hold, key, null);
    const filter = { limit: 1, status: null, petId, reference: null, newestId: null };
    const [placed] = (await orders.list(filter, everyAccount)).items;
    return { petId, id: placed?.id ?? 0n, key };
  }

  test('a refused action leaves no row in the audit log', async (t) => {
    const { store, changes, listEntries } = await open(t);
    const { id } = await placeOrder(store, 'Rex');
    for (const [code, refused] of [
      ['not_found', () => changes.changePet(7n, { name: 'Rex' }, null)],
      ['not_found', () => changes.deletePet(7n)],
      ['not_found', () => changes.deleteCategory(7n)],
      ['not_found', () => changes.closeOrder('cancel', 7n)],
      ['order_closed', () => changes.closeOrder('return', id)],
    ] as const)
      await assert.rejects(refused, { name: 'AppError', code });
    assert.equal((await store.orders.get(id, everyAccount)).status, 'reserved');
    assert.deepEqual(await listEntries(), []);
  });

  async function openWithOrders(t: Ending) {
    const { store, ...opened } = await open(t);
    const [held, sold] = [await placeOrder(store, 'Rex'), await placeOrder(store, 'Max')];
    await store.orders.close('complete', sold.id, sold.key);
    return { store, held, sold, ...opened };
  }

  test('a cancelled or returned order no longer owns its animal', async (t) => {
    const { store, held, sold, changes } = await openWithOrders(t);
    await changes.closeOrder('cancel', held.id);
    await changes.closeOrder('return', sold.id);
    assert.equal((await store.catalogue.get(held.petId))?.status, 'available');
    assert.equal((await store.catalogue.get(sold.petId))?.status, 'pending');
  });

  test('a cancelled or returned order has one row in the audit log', async (t) => {
    const { held, sold, changes, listEntries } = await openWithOrders(t);
    assert.equal((await changes.closeOrder('cancel', held.id)).status, 'cancelled');
    assert.equal((await changes.closeOrder('cancel', held.id)).status, 'cancelled');
    assert.equal((await changes.closeOrder('return', sold.id)).account, 'Happy Paws');
    assert.deepEqual(await listEntries(), [
      ['order.cancelled', String(held.id), { status: 'reserved' }, { status: 'cancelled' }],
      ['order.returned', String(sold.id), { status: 'completed' }, { status: 'returned' }],
    ]);
  });
});
