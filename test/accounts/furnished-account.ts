import type { TestContext } from 'node:test';
import { dayMs } from '../../src/clock.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { columnsOf110 } from '../../src/storage/postgres/whole-store.ts';
import { keyed, openShop } from '../contracts/order-shop.ts';
import type { Engine, Store } from '../support/engines.ts';
import { createWorld, makePlan, order } from './world.ts';

/** Texts that name the account of `furnish`. */
export const names = ['Ms Smith', 'Smith-1017', 'Till of Smith', 'smith.example', 'key_smith'];

/** An account with an open, a cancelled and a completed order, and rows that name it in every table. */
export async function furnish(t: TestContext, engine: Engine) {
  const world = await createWorld(t, engine);
  const { accounts, keyring, store, clock } = world;
  const shop = await openShop(t, { ...engine, createStore: async () => store });
  const { database } = shop;
  await accounts.create('Smith', makePlan('pro'));
  await accounts.rename('Smith', 'Ms Smith');
  const { id } = await keyring.issue(order({ account: 'Ms Smith', plan: null, name: 'Till of Smith' }));
  const other = await keyring.issue(order({ account: 'Ark', plan: makePlan('pro') }));
  const buyer = { nowMs: clock.now(), isManager: false };
  const smith = { accountId: await accounts.findId('Ms Smith'), keyId: id, ...buyer };
  const ark = { accountId: await accounts.findId('Ark'), keyId: other.id, ...buyer };
  const pets = await shop.addPets(5);
  const [first = 0n, second = 0n, third = 0n, fourth = 0n, fifth = 0n] = pets;
  const place = (petId: bigint, reference: string | null, reader = smith) =>
    shop.place(reader, petId, { reference });
  await shop.orders.close('complete', (await place(first, 'Smith-1017')).id, smith);
  await shop.orders.close('cancel', (await place(second, 'Smith-1017 "again"')).id, smith);
  await sequenceEvents(database);
  await place(third, 'Smith-1017');
  await place(fourth, 'Ark-1', ark);
  const held = { petId: fifth, holdMs: dayMs, reference: 'Smith-1017' };
  await shop.orders.place(held, smith, keyed(smith, 'smith'));
  const account = String(smith.accountId);
  for (const sql of [
    insertWebhook(account, id),
    insertAttempt,
    `insert into requests (at_ms, last_at_ms, account_id, key_id, address, status, duration_ms, times)
      values (1, 1, ${account}, 'key_smith', '192.0.2.7', 404, 1, 1)`,
    `insert into usage_hours values (${account}, 0, 7, 0, 0)`,
    `insert into usage_windows values ('account:${account}', 7, 9, 7, 9)`,
    `insert into key_bans values ('${id}', 1, 1, 1, '', 1)`,
  ])
    await store.execute(sql);
  return { ...world, ...shop, id, pets, smith };
}

export const insertWebhook = (
  accountId: string,
  keyId: string,
) => `insert into webhooks (public_id, account_id, key_id,
  url, types, sees_pets, sees_orders, status, position, revision, failures, next_attempt_at_ms, created_at_ms)
  values ('wh_1', ${accountId}, '${keyId}', 'https://smith.example', 'pet.added', 1, 'own', 'enabled', 0, 0, 0, 0, 0)`;

const insertAttempt = `insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms)
  select id, 'evt_1', 1, '500', 1 from webhooks`;

/** Lists the columns of a table, without those that only instances of 1.1.0 use. */
export async function listColumns({ url, execute }: Store, table: string): Promise<string[]> {
  const columns = url.startsWith('sqlite:')
    ? `select name from pragma_table_info('${table}')`
    : `select attname::text as name from pg_attribute
        where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped`;
  const names = (await execute<{ name: string }>(columns)).map(({ name }) => name);
  return names.filter((name) => !columnsOf110.includes(name)).sort();
}
