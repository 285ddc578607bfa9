import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expireEvents } from '../../src/events/expire-events.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { foldInventory } from '../../src/inventory/inventory.ts';
import type { Database } from '../../src/storage/database.ts';
import { findPostgres, type Store } from '../support/engines.ts';
import { until } from '../support/processes.ts';

const postgres = await findPostgres();
const waiting = 40_000;
const batch = 4_000;
const statisticsMsMax = 20_000;

/** Requires that all rows of a table are deleted, and that few rows were read by scans of the table. */
async function expectNoScan(store: Store, table: string): Promise<void> {
  const readStatistics = async () => {
    const [row] = await store.execute(`select seq_tup_read::int as scanned, n_tup_del::int as deleted
      from pg_stat_user_tables where relname = '${table}'`);
    return row as { scanned: number; deleted: number };
  };
  const { scanned } = await until(readStatistics, ({ deleted }) => deleted >= waiting, statisticsMsMax);
  assert.ok(scanned < waiting / 2, `${scanned} rows were read by scans of the table`);
  assert.equal((await store.execute(`select from ${table}`)).length, 0);
}

const openWith = (store: Store, mode: string) =>
  store.open(`${store.url}?options=-cplan_cache_mode%3D${mode}`);

const tables = {
  event_outbox: {
    take: (database: Database) => sequenceEvents(database, undefined, batch),
    insert: "insert into event_outbox (type, data) select 'pet.added', '{}'",
  },
  inventory_changes: {
    take: (database: Database) => foldInventory(database, batch),
    insert: 'insert into inventory_changes (category_id, available, pending, sold) select 1, 1, 0, 0',
  },
} as const;

describe('rows are taken in batches on PostgreSQL', { skip: postgres.skip }, () => {
  for (const [table, { take, insert }] of Object.entries(tables))
    for (const mode of ['auto', 'force_generic_plan'])
      test(`from ${table} by its index, though it was empty for a long time (plan_cache_mode ${mode})`, async (t) => {
        const store = await postgres.createStore(t);
        const database = await openWith(store, mode);
        await store.execute(`analyze ${table}`);
        // PostgreSQL may keep a plan from the sixth call on.
        for (let round = 0; round < 7; round += 1) {
          await store.execute(`${insert} from generate_series(1, ${round})`);
          await take(database);
        }
        await store.execute(`${insert} from generate_series(1, ${waiting})`);
        await take(database);
        // A connection writes its statistics at its end.
        await database.close();
        await expectNoScan(store, table);
      });

  test('events are deleted by their index, though the plan is for any positions and has no statistics', async (t) => {
    const store = await postgres.createStore(t);
    const database = await openWith(store, 'force_generic_plan');
    await store.execute('alter table events set (autovacuum_enabled = off)');
    await store.execute(`insert into events (at_ms, type, data)
      select 0, 'pet.added', '{}' from generate_series(1, ${waiting})`);
    await expireEvents(database);
    await database.close();
    await expectNoScan(store, 'events');
  });
});
