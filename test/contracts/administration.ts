import type { TestContext } from 'node:test';
import { createAudit } from '../../src/audit/audit-log.ts';
import { createCorrectionFollower } from '../../src/limits/corrections.ts';
import { createCounterStore } from '../../src/limits/memory/counter-store.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { prepareChanges } from '../../src/operator/changes.ts';
import { createSecretBox } from '../../src/webhooks/secret-box.ts';
import { createWorld, order } from '../accounts/world.ts';
import type { Engine } from '../support/engines.ts';

/** The operator who makes the changes. */
export const byAnn = { kind: 'command', name: 'ann' } as const;

/** Opens a store with everything that an operator changes. */
export async function openAdministration(t: TestContext, engine: Engine) {
  const world = await createWorld(t, engine);
  const { database, clock } = world;
  const audit = createAudit(database, clock.now);
  const changeAs = prepareChanges(database, clock.now, 'stg', createSecretBox([]));
  const listEntries = async (query: Partial<Parameters<typeof audit.list>[0]> = {}) =>
    (await audit.list({ limit: 100, ...query })).items;
  return { ...world, audit, listEntries, changeAs, ...changeAs(byAnn) };
}

/** Creates the counters of a process, and an account with a key that these counters have banned. */
export async function openWithBan(t: TestContext, engine: Engine) {
  const world = await openAdministration(t, engine);
  const { database, clock, keyring } = world;
  const { id } = await keyring.issue(order({ account: 'Zoo' }));
  const subject = `account:${await world.accounts.findId('Zoo')}`;
  const counters = createMemoryCounters();
  const counterStore = createCounterStore({ counters, database, clock: clock.now });
  const take = () => counters.take(subject, { perMinute: 60, perDay: 1_000 }, id, clock.now());
  for (let count = 0; count < 120; count += 1) take();
  await counterStore.flush();
  const lifts = createCorrectionFollower(database, counters, clock.now);
  return { ...world, id, counters, counterStore, take, lifts };
}
