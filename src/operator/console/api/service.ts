import manifest from '../../../../package.json' with { type: 'json' };
import { defineConsoleOperation } from '../operation.ts';

/** Returns the current session, and facts about the service. */
const showSession = defineConsoleOperation({
  method: 'GET',
  path: '/session',

  async handle({ signedIn: { id, madeBy } }, { environment, database }) {
    return { id, madeBy, environment, engine: database.engine, version: manifest.version };
  },
});

/** Returns the health and traffic of this instance, and the inventory of the store. */
const showOverview = defineConsoleOperation({
  method: 'GET',
  path: '/overview',

  async handle(_call, { vitals, readHealth, countInventory, allWebhooks, clock, database }) {
    const [health, inventory, webhooks, feedLagSeconds, eventWaits, storeFailures, bansBegun] =
      await Promise.all([
        readHealth(),
        countInventory(null),
        allWebhooks.readLag(),
        vitals.readMetric('event_lag_seconds'),
        vitals.readMetric('event_waits'),
        vitals.readMetric('store_failures_total'),
        vitals.readMetric('bans_begun_total'),
      ]);
    return {
      nowMs: clock(),
      engine: database.engine,
      health,
      inventory,
      webhooks: { farthest: webhooks.farthest[0] ?? null, disabled: sumOf(webhooks.disabled) },
      feedLagSeconds,
      eventWaits,
      storeFailures,
      bansBegun,
      notes: vitals.list(),
    };
  },
});

export const serviceOperations = [showSession, showOverview];

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
