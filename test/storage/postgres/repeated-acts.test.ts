import assert from 'node:assert/strict';
import { createKeyring } from '../../../src/accounts/keyring.ts';
import type { OrderAction } from '../../../src/orders/close-order.ts';
import type { Order } from '../../../src/orders/order.ts';
import type { OrderKey } from '../../../src/orders/place-order.ts';
import { openDatabase } from '../../../src/storage/open-database.ts';
import { openStore } from '../../../src/store.ts';
import { removeWebhook } from '../../../src/webhooks/change-webhook.ts';
import { makePlan, operatorError, order } from '../../accounts/world.ts';
import { hold, keyed, readOrder } from '../../contracts/order-shop.ts';
import { addWindow, unavailable } from '../../contracts/window-rows.ts';
import { type PostgresServer, testOnCluster as test } from '../../support/postgres-cluster.ts';
import { eventually } from '../../support/redis-server.ts';

const rex = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
const waitingCommits = `pg_stat_activity where wait_event = 'SyncRep'`;
const notFound = { code: 'not_found' };

/** Acts that were done before. Each resolves, or rejects as shown, and changes nothing. */
async function prepareActs({ url }: PostgresServer) {
  const store = await openStore({ databaseUrl: url, environment: 'staging' }, Date.now);
  const { database, catalogue, orders, categories, keyring, accounts, closeOrder } = store;
  const { key: _, ...caller } = await keyring.issue(order({ account: 'zoo', scopes: ['keys:manage'] }));
  const issued = await keyring.issue(order({ account: 'zoo', plan: null }));
  const accountId = (await accounts.find('zoo')).id;
  const acting = { accountId, keyId: caller.id, nowMs: Date.now() };
  const manager: OrderKey = { ...acting, isManager: true };
  const actor = { kind: 'key', name: caller.id } as const;
  const ownKeys = createKeyring(database, Date.now, 'stg', actor);

  async function placeAndClose(...actions: OrderAction[]): Promise<Order> {
    const { id: petId } = await catalogue.add(rex);
    const placed = readOrder(await orders.place({ ...hold, petId }, manager, null));
    for (const action of actions) await orders.close(action, placed.id, manager);
    return placed;
  }
  const completed = await placeAndClose('complete');
  const cancelled = await placeAndClose('cancel');
  const returned = await placeAndClose('complete', 'return');
  const kept = await catalogue.add(rex);
  const gone = await catalogue.add(rex);
  await catalogue.remove(gone.id, null);
  await categories.put({ id: 3n, name: 'Dogs' }, actor);
  await keyring.revoke(issued.id);
  await accounts.create('aquarium', makePlan('free'));
  await accounts.suspend('aquarium');
  const toAdd = { ...keyed(manager, 'add'), operation: 'createPet' };
  const addOnce = () => catalogue.addOnce(rex, toAdd, '/pets/');
  await addOnce();
  const { id: petId } = await catalogue.add(rex);
  const placeOnce = () => orders.place({ ...hold, petId }, manager, keyed(manager, 'order'));
  await placeOnce();
  const unseen = { publicId: 'wh_gone', manager: { ...acting, seesPets: true, seesOrders: 'own' } } as const;

  const acts: Record<string, { act: () => Promise<unknown>; refusal?: object }> = {
    'an add with its key': { act: addOnce },
    'an order with its key': { act: placeOnce },
    'a completion': { act: () => orders.close('complete', completed.id, manager) },
    'a cancellation': { act: () => orders.close('cancel', cancelled.id, manager) },
    'a return': { act: () => orders.close('return', returned.id, manager) },
    'a PATCH': { act: () => catalogue.change(kept.id, { name: 'Rex' }, null) },
    'a PUT': { act: () => categories.put({ id: 3n, name: 'Dogs' }, actor) },
    'a deletion of an animal': { act: () => catalogue.remove(gone.id, null), refusal: notFound },
    'a deletion of a category': { act: () => categories.remove(4n, actor), refusal: notFound },
    'a deletion of a key': { act: () => ownKeys.revoke(issued.id), refusal: notFound },
    'a deletion of a webhook': { act: () => database.transact(removeWebhook, unseen), refusal: notFound },
    "an operator's cancellation": { act: () => closeOrder('cancel', cancelled.id) },
    "an operator's revocation": { act: () => keyring.revoke(issued.id) },
    "an operator's suspension": { act: () => accounts.suspend('aquarium') },
    "an operator's new account": {
      act: () => accounts.create('zoo', makePlan('free')),
      refusal: operatorError(/already exists/),
    },
  };
  return { store, acts, readSome: () => catalogue.get(kept.id) };
}

test('a repeated act that changes nothing waits for the synchronous standby', async ({
  t,
  primary,
  standby,
}) => {
  const { store, acts, readSome } = await prepareActs(primary);
  t.after(() => store.close());
  for (const { act, refusal } of Object.values(acts))
    await (refusal === undefined ? act() : assert.rejects(act, refusal));
  await standby.kill();

  for (const [title, { act }] of Object.entries(acts))
    await t.test(title, async () => {
      const refused = assert.rejects(act, unavailable);
      await eventually(async () => (await primary.execute(`select from ${waitingCommits}`)).length === 1);
      await primary.execute(`select pg_terminate_backend(pid) from ${waitingCommits}`);
      await refused;
    });

  await t.test('but a read does not', async () => {
    assert.equal((await readSome())?.name, 'Rex');
  });
});

test('a write whose wait for the synchronous standby is cancelled fails as unavailable', async ({
  t,
  primary,
  standby,
}) => {
  const database = await openDatabase(primary.url);
  t.after(() => database.close());
  await standby.kill();
  const refused = assert.rejects(addWindow(database, 'a'), unavailable);
  await eventually(async () => (await primary.execute(`select from ${waitingCommits}`)).length > 0);
  await primary.execute(`select pg_cancel_backend(pid) from ${waitingCommits}`);
  await refused;
});
