import manifest from '../../../../package.json' with { type: 'json' };
import { operation } from '../operation.ts';

export const serviceOperations = [
  /** Returns the current session, and facts about the service. */
  operation('GET /session', {}, async (_, { signedIn: { id, madeBy }, environment, database }) => {
    return { id, madeBy, environment, engine: database.engine, version: manifest.version };
  }),

  /** Returns the health and traffic of this instance, and the inventory of the store. */
  operation('GET /overview', {}, async (_, context) => {
    const { vitals, readHealth, countInventory, allWebhooks, clock, database } = context;
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
    const disabled = Object.values(webhooks.disabled).reduce((sum, count) => sum + count, 0);
    return {
      nowMs: clock(),
      engine: database.engine,
      health,
      inventory,
      webhooks: { farthest: webhooks.farthest[0] ?? null, disabled },
      feedLagSeconds,
      eventWaits,
      storeFailures,
      bansBegun,
      notes: vitals.list(),
    };
  }),
];
