import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createAccounts } from '../../src/accounts/accounts.ts';
import { createKeyring, type KeyOrder, type Keyring } from '../../src/accounts/keyring.ts';
import { type Plan, type PlanName, resolvePlan } from '../../src/plans/plan.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Page } from '../../src/storage/read-page.ts';
import type { Engine } from '../support/engines.ts';
import { createMovableClock } from '../support/service.ts';

/** Creates a keyring and accounts over a new store, with a clock that only the test moves. */
export async function createWorld(t: TestContext, engine: Engine) {
  const store = await engine.createStore(t);
  const database = await store.open();
  const clock = createMovableClock();
  const openKeyring = (opened: Database) => createKeyring(opened, clock.now, 'stg');
  return {
    store,
    database,
    clock,
    keyring: openKeyring(database),
    accounts: createAccounts(database, clock.now),
    /** Opens the keyring of another instance over the same store. */
    openOther: async () => openKeyring(await store.open()),
  };
}

export function makePlan(name: PlanName, perMinute?: number, perDay?: number): Plan {
  const plan = resolvePlan(name, { ...(perMinute && { perMinute }), ...(perDay && { perDay }) });
  assert.ok(!('problem' in plan));
  return plan;
}

/** Returns an order for a key without expiry on a new account on Free. `changes` override these defaults. */
export function order(changes: Partial<KeyOrder> = {}): KeyOrder {
  return { account: null, plan: makePlan('free'), scopes: null, lifetimeMs: null, ...changes };
}

export async function findListed(keyring: Keyring, id: string) {
  const listed = (await keyring.list()).find((key) => key.id === id);
  assert.ok(listed);
  return listed;
}

/** The OperatorError with this message, for `assert.rejects`. */
export const operatorError = (message: string | RegExp) => ({ name: 'OperatorError', message });

export const fieldOf = <Item, Name extends keyof Item>(items: readonly Item[], name: Name) =>
  items.map((item) => item[name]);

export function fieldsOf<Item, Name extends keyof Item>(items: readonly Item[], ...names: readonly Name[]) {
  return items.map((item) => names.map((name) => item[name]));
}

/** Returns the items of all pages. `list` gets the position of a page, and null for the first. */
export async function walk<Item, Position = bigint>(
  list: (from: Position | null) => Promise<Page<Item, Position>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let from: Position | null = null;
  do {
    const page: Page<Item, Position> = await list(from);
    items.push(...page.items);
    from = page.next;
  } while (from !== null);
  return items;
}
