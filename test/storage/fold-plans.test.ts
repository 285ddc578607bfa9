import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client } from 'pg';
import { foldChanges, selectLastChange } from '../../src/inventory/inventory-rows.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { findPostgres } from '../support/engines.ts';

const postgres = await findPostgres();
const waiting = 40_000;
const batch = 1_000;

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Counts the rows of `inventory_changes` that a plan has read. */
function countRead(node: PlanNode): number {
  const isOwn = node['Relation Name'] === 'inventory_changes' && node.Plans === undefined;
  const own = isOwn
    ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
    : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + countRead(child), own);
}

describe('the changes of the inventory on PostgreSQL', { skip: postgres.skip }, () => {
  test('are each read once for a batch, even with plans that were made while there were none', async (t) => {
    const store = await postgres.createStore(t);
    await (await store.open()).close();
    const client = new Client(store.url);
    client.on('error', () => undefined);
    await client.connect();
    t.after(() => client.end().catch(() => undefined));
    await client.query('set plan_cache_mode = force_generic_plan; analyze inventory_changes');
    await client.query(`prepare find as ${compileStatement(selectLastChange, 'postgres').sql}`);
    await client.query(`prepare fold as ${compileStatement(foldChanges, 'postgres').sql}`);
    await client.query(`execute find (${batch}); execute fold (0)`);
    await client.query(`insert into inventory_changes (category_id, available, pending, sold)
      select 1, 1, 0, 0 from generate_series(1, ${waiting})`);

    for (let folded = 0; folded < 3 * batch; folded += batch) {
      const { rows } = await client.query(`execute find (${batch})`);
      const last = String(rows[0].last);
      for (const call of [`find (${batch})`, `fold (${last})`]) {
        const explained = await client.query(`explain (analyze, format json) execute ${call}`);
        const [{ Plan }] = explained.rows[0]['QUERY PLAN'];
        assert.ok(countRead(Plan) <= waiting, `${call}: ${countRead(Plan)} rows`);
      }
    }
    const { rows } = await client.query('select count(*)::int from inventory_changes');
    assert.equal(rows[0].count, waiting - 3 * batch);
  });
});
