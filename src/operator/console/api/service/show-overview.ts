import { defineConsoleOperation } from '../../operation.ts';

/** Returns the health and traffic of this instance, and the inventory of the store. */
export const showOverview = defineConsoleOperation({
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
      webhooks: { farthest: webhooks.farthest[0] ?? null, disabled: webhooks.disabled },
      feedLagSeconds,
      eventWaits,
      storeFailures,
      bansBegun,
      notes: vitals.list(),
    };
  },
});
