import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from 'pg';
import { type OrderStatus, orderStatuses } from '../../src/orders/order.ts';
import { type OrderFilter, selectOrders } from '../../src/orders/order-rows.ts';
import { countHolds } from '../../src/orders/place-order.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { openShop } from '../contracts/order-shop.ts';
import { findPostgres, type Store, sqliteEngine } from '../support/engines.ts';
import { connectPostgres } from '../support/postgres-databases.ts';

const postgres = await findPostgres();
const orders = 6_000;
/** A page of 20 orders reads one more, to know whether there is a next page. */
const count = 21;
/** An account, an animal and a reference that few orders have. The tests combine them in every way. */
const rare = { petId: 1n, reference: 'A-1', accountId: 1n } as const;

/** The status and the other filters of a page. */
type PageFilter = { readonly [Name in keyof OrderFilter]: OrderFilter[Name] | null } & {
  readonly status: OrderStatus | null;
};

const filters: readonly PageFilter[] = [null, ...orderStatuses].flatMap((status) =>
  [null, rare.petId].flatMap((petId) =>
    [null, rare.reference].flatMap((reference) =>
      [null, rare.accountId].map((accountId) => ({ status, petId, reference, accountId })),
    ),
  ),
);

/** A distribution of orders: returns the order at an index, counted from the oldest. */
type History = (index: number) => { account: number; pet: number; reference: string | null; status: string };

const released: readonly OrderStatus[] = ['cancelled', 'expired', 'returned'];
const releasedAt = (index: number) => released[index % 3] as OrderStatus;
const common = { account: 1, pet: 1, reference: 'A-1' };
const isOld = (index: number) => index < 50;
const histories: Readonly<Record<string, History>> = {
  'all are of one account, animal and reference and cancelled': () => ({ ...common, status: 'cancelled' }),
  'the statuses of one animal are mixed': (index) => ({ ...common, status: releasedAt(index) }),
  'those of an account are all old': (index) => ({
    ...common,
    account: isOld(index) ? 1 : 2,
    status: 'expired',
  }),
  'the cancelled and returned ones are all old': (index) => ({
    ...common,
    status: isOld(index) ? releasedAt(index) : 'expired',
  }),
  'each has an animal of its own, most are open, and the completed ones are old': (index) => ({
    account: 1 + (index % 3),
    pet: 1 + index,
    reference: index % 2 === 0 ? 'A-1' : null,
    status: isOld(index) ? 'completed' : 'reserved',
  }),
  'each has an account, an animal and no reference': (index) => ({
    account: 1 + (index % 500),
    pet: 1 + index,
    reference: null,
    status: orderStatuses[index % 5] as OrderStatus,
  }),
};

/** Returns SQL that adds the orders of a history without events and accounts. */
function writeHistory(history: History): string {
  const rows = Array.from({ length: orders }, (_, index) => {
    const { account, pet, reference, status } = history(index);
    const closedAtMs = status === 'reserved' ? 'null' : '1';
    const text = reference === null ? 'null' : `'${reference}'`;
    return `(${account}, ${pet}, '${status}', ${text}, 0, 9000000000000, ${closedAtMs})`;
  });
  return `insert into orders (account_id, pet_id, status, reference, created_at_ms, expires_at_ms, closed_at_ms)
    values ${rows.join()}`;
}

const nameFilter = (filter: PageFilter) =>
  Object.entries(filter)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ') || 'no filter';

const range = { newestId: 1n, count: 1n };

const compilePage = ({ status, ...filter }: PageFilter, engine: 'sqlite' | 'postgres') =>
  compileStatement(selectOrders(status), engine, { ...filter, ...range });

const compileCount = (engine: 'sqlite' | 'postgres') =>
  compileStatement(countHolds, engine, { accountId: 1n, newestId: 1n });

describe('a page of orders in SQLite', () => {
  /** Returns the expected index searches of a page: one of each status, by the rarest filter. */
  function expectedSearches({ status, petId, reference, accountId }: PageFilter): readonly string[] {
    if (!petId && !reference && !accountId && !status) return ['USING INTEGER PRIMARY KEY (rowid<?)'];
    const [lead, column] = petId
      ? ['pet', 'pet_id=? AND ']
      : reference
        ? ['reference', 'reference=? AND ']
        : [];
    const of = lead && accountId ? `account_and_${lead}` : (lead ?? (accountId ? 'account' : 'status'));
    const owner = accountId ? (lead ? '<expr>=? AND ' : 'account_id=? AND ') : '';
    const key = `${owner}${column ?? ''}status=? AND id<?`;
    const all = (status === null ? orderStatuses : [status]).map((one) =>
      lead === 'pet' && !released.includes(one)
        ? 'USING INDEX orders_owning (pet_id=? AND rowid<?)'
        : `USING INDEX orders_by_${of} (${key})`,
    );
    const overdue = 'USING INDEX orders_by_expiry (expires_at_ms>? AND expires_at_ms<?)';
    return (status === 'expired' ? [...all, overdue] : all).toSorted();
  }

  async function explain(store: Store, { sql }: ReturnType<typeof compileStatement>) {
    const rows = await store.execute(`explain query plan ${sql}`);
    return rows
      .map((row) => (row as { detail: string }).detail)
      .filter((detail) => /^(?:SEARCH|SCAN) orders USING/.test(detail))
      .map((detail) => detail.replace(/^SCAN/, 'a scan ').replace('SEARCH orders ', ''))
      .toSorted();
  }

  // Without statistics, SQLite chooses a plan by the statement alone, whatever the store has.
  test('uses the expected indexes', async (t) => {
    const store = await sqliteEngine.createStore(t);
    for (const filter of filters) {
      const plan = await explain(store, compilePage(filter, 'sqlite'));
      assert.deepEqual(plan, expectedSearches(filter), nameFilter(filter));
    }
    assert.deepEqual(await explain(store, compileCount('sqlite')), [
      'USING COVERING INDEX orders_by_account (account_id=? AND status=? AND id<?)',
    ]);
  });
});

describe('a page of orders in PostgreSQL', { skip: postgres.skip }, () => {
  const planModes = ['force_generic_plan', 'force_custom_plan'] as const;

  /** A node of an executed query plan, with the number of orders that it read. */
  interface PlanNode {
    readonly 'Relation Name'?: string;
    readonly 'Index Name'?: string;
    readonly 'Actual Rows': number;
    readonly 'Actual Loops': number;
    readonly 'Rows Removed by Filter'?: number;
    readonly 'Rows Removed by Index Recheck'?: number;
    readonly Plans?: readonly PlanNode[];
  }

  function* listReads(node: PlanNode): Generator<{ rows: number; index: string }> {
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
    if (node['Relation Name'] === 'orders')
      yield {
        rows: (node['Actual Rows'] + removed) * node['Actual Loops'],
        index: node['Index Name'] ?? 'the table',
      };
    for (const child of node.Plans ?? []) yield* listReads(child);
  }

  async function explain(client: Client, sql: string, values: string) {
    await client.query(`prepare page as ${sql}`);
    const { rows } = await client.query(`explain (analyze, format json) execute page (${values})`);
    await client.query('deallocate page');
    const [{ Plan }] = rows[0]['QUERY PLAN'];
    return [...listReads(Plan as PlanNode)];
  }

  /** Requires that the count of open holds reads at most `count` orders. */
  async function expectCount(client: Client): Promise<void> {
    const { sql, names } = compileCount('postgres');
    const holds = { ...rare, newestId: orders };
    const values = names.map((name) => holds[name as keyof typeof holds]).join();
    const { rowCount } = await client.query(
      `update accounts set open_holds = ${count} where id = ${rare.accountId}`,
    );
    assert.equal(rowCount, 1);
    for (const { rows, index } of await explain(client, sql, values))
      assert.ok(rows <= count, `open holds: ${rows} rows of ${index}`);
  }

  /** With an animal and a reference, a page may read all orders of the animal. */
  async function countReadable(client: Client, { petId, reference }: PageFilter): Promise<number> {
    if (petId === null || reference === null) return count;
    const { rows } = await client.query(`select count(*)::int from orders where pet_id = ${petId}`);
    return Math.max(count, rows[0].count);
  }

  async function expectPages(client: Client, plans: string): Promise<void> {
    await client.query(`set plan_cache_mode = ${plans}; set session_replication_role = replica`);
    await expectCount(client);
    const literals = { ...rare, reference: `'${rare.reference}'`, count };
    for (const newestId of [orders, orders - 1_000])
      for (const filter of filters) {
        const { sql, names } = compilePage(filter, 'postgres');
        const values = names.map((name) => ({ ...literals, newestId })[name as keyof typeof literals]).join();
        const most = await countReadable(client, filter);
        for (const { rows, index } of await explain(client, sql, values))
          assert.ok(rows <= most, `${nameFilter(filter)}: ${rows} rows of ${index}`);
      }
  }

  const [evenlyCancelled, mixed] = Object.values(histories) as [History, History];
  const other: History = (index) => ({ ...evenlyCancelled(index), account: 2, pet: 2, reference: 'B' });

  // The statistics know only the first of the histories.
  for (const [name, ...written] of [
    ...Object.entries(histories),
    ['the statistics are outdated', other, mixed],
  ] as [string, ...History[]][])
    test(`reads only matching orders if ${name}`, async (t) => {
      const { store, addBuyer } = await openShop(t, postgres);
      await addBuyer();
      for (const [place, history] of written.entries()) {
        await store.execute('alter table orders disable trigger all');
        await store.execute(writeHistory(history));
        if (place === 0) await store.execute('analyze orders');
      }
      const client = await connectPostgres(t, store.url);
      for (const plans of planModes) await expectPages(client, plans);
    });
});
