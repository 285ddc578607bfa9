import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { type Client, DatabaseError } from 'pg';
import { compileStatement, placeParameters } from '../../src/storage/compile.ts';
import type { Parameters, Statement, Value } from '../../src/storage/database.ts';
import { planSettings } from '../../src/storage/postgres/pool.ts';
import type { Engine, Store } from './engines.ts';
import { connectPostgres } from './postgres-databases.ts';
import type { Ending } from './service.ts';

/**
 * Measures what statements cost, without a clock: it runs each of them, counts, and undoes it. If a constraint refuses a
 * statement, counts what SQLite did until then, and nothing on PostgreSQL.
 */
export interface Meter {
  /** Returns the cost of a statement in rows, and how the engine reads. */
  measure<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Promise<Cost>;
}

export interface Cost {
  readonly rows: number;
  readonly plan: string;
}

export function openMeter(test: Ending, engine: Engine, store: Store): Promise<Meter> {
  return engine.name === 'SQLite' ? openSqliteMeter(test, store) : openPostgresMeter(test, store);
}

/** A row of a page takes at least this many steps of SQLite's virtual machine. */
const stepsPerRow = 10;

async function openSqliteMeter(test: Ending, { url }: Store): Promise<Meter> {
  const file = new DatabaseSync(url.replace('sqlite:', ''), { timeout: 5_000 });
  test.after(() => file.close());
  return {
    async measure(statement, parameters) {
      const { sql, names } = compileStatement(statement, 'sqlite', parameters);
      const values = placeParameters(names, parameters) as SQLInputValue[];
      const prepared = file.prepare(sql) as StatementSync & { stat(counter: 'vmStep'): number };
      file.exec('begin');
      try {
        prepared.all(...values);
      } catch (error) {
        if (!/constraint/i.test(String(error))) throw error;
      } finally {
        file.exec('rollback');
      }
      const steps = file.prepare(`explain query plan ${sql}`).all(...values);
      const plan = steps.map(({ detail }) => String(detail)).join('\n');
      return { rows: Math.ceil(prepared.stat('vmStep') / stepsPerRow), plan };
    },
  };
}

/** The kinds of plans that PostgreSQL may use for a prepared statement. */
const planModes = ['force_generic_plan', 'force_custom_plan'] as const;

/** A node of an executed plan. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

async function openPostgresMeter(test: Ending, { url }: Store): Promise<Meter> {
  const client = await connectPostgres(test, url);
  await client.query(`select ${planSettings}`);

  /** Returns null if a constraint refuses the statement. */
  async function explain(sql: string, values: readonly string[], mode: string): Promise<PlanNode | null> {
    const given = values.length === 0 ? '' : `(${values.join()})`;
    await client.query(`begin; set local plan_cache_mode = ${mode}`);
    try {
      await client.query(`prepare measured as ${sql}`);
      const { rows } = await client.query(`explain (analyze, format json) execute measured${given}`);
      return rows[0]['QUERY PLAN'][0].Plan;
    } catch (error) {
      if (!(error instanceof DatabaseError && error.code?.startsWith('23'))) throw error;
      return null;
    } finally {
      await client.query('rollback; deallocate all');
    }
  }

  return {
    async measure(statement, parameters) {
      const { sql, names } = compileStatement(statement, 'postgres', parameters);
      const values = placeParameters(names, parameters).map((value) => toLiteral(client, value));
      const costs: Cost[] = [];
      for (const mode of planModes) {
        const reads = listReads(await explain(sql, values, mode));
        const plan = reads.map(({ rows, from }) => `${rows} rows of ${from}`).join('\n');
        costs.push({ rows: reads.reduce((sum, { rows }) => sum + rows, 0), plan: `${mode}\n${plan}` });
      }
      return costs.reduce((one, other) => (one.rows > other.rows ? one : other));
    },
  };
}

/** Lists what each scan of a plan has read. */
function listReads(node: PlanNode | null): { readonly rows: number; readonly from: string }[] {
  if (node === null) return [];
  const below = (node.Plans ?? []).flatMap(listReads);
  const { 'Relation Name': table, 'Index Name': index } = node;
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  if (table === undefined && index === undefined) return below;
  const rows = (node['Actual Rows'] + removed) * node['Actual Loops'];
  return [{ rows, from: `${table ?? ''} by ${node['Node Type']} ${index ?? ''}` }, ...below];
}

function toLiteral(client: Client, value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return client.escapeLiteral(value);
  return `'\\x${Buffer.from(value).toString('hex')}'`;
}
