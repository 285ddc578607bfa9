import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { OperatorError } from '../../src/errors.ts';
import { type LoadedPet, loadPets } from '../../src/pets/load-pets.ts';
import type { BadChanges } from '../../src/pets/loaded-pets.ts';
import type { Database } from '../../src/storage/database.ts';
import { importPets } from '../support/catalogue.ts';
import { describeOnEngines, type Engine, openStore, type Store } from '../support/engines.ts';
import { explainLoads } from '../support/explain-loads.ts';
import { connectPostgres } from '../support/postgres-databases.ts';

const rules = {
  unknown: { field: 'id', rule: 'names no animal' },
  owned: {
    field: 'status',
    rule: 'must stay as it is: an order owns this animal, and only the order changes its status',
  },
};

/** Opens a store with `count` available animals, whose ids begin at 1. */
async function openWithPets(t: TestContext, engine: Engine, count: number) {
  const opened = await openStore(t, engine);
  await importPets(opened.database, Array<LoadedPet>(count).fill({ name: 'Rex', categoryId: 1n }));
  const read = () => opened.store.execute<{ name: string; status: string }>('select * from pets order by id');
  return { ...opened, listPets: async () => (await read()).map(({ name, status }) => `${name} ${status}`) };
}

/** Runs SQL in a transaction of another program, which keeps its locks. Returns the function that commits it. */
async function beginWrite(t: TestContext, { url }: Store, sql: string): Promise<() => Promise<void>> {
  if (url.startsWith('sqlite:')) {
    const raw = new DatabaseSync(url.slice('sqlite:'.length));
    t.after(() => raw.close());
    raw.exec(`begin immediate; ${sql}`);
    return async () => raw.exec('commit');
  }
  const client = await connectPostgres(t, url);
  // If the load waited for these locks, the end of this session would fail the commit.
  await client.query(`set idle_in_transaction_session_timeout = '30s'; begin; ${sql}`);
  return async () => void (await client.query('commit'));
}

async function* toBatches(...changes: LoadedPet[]) {
  yield changes;
}

const sell = (id: bigint, line: number): LoadedPet => ({ id, line, status: 'sold' });

const own = (id: number) => `update pets set is_owned = 1, status = 'pending' where id = ${id}`;

const collect = (into: BadChanges[]) => (bad: BadChanges) => void into.push(bad);

await describeOnEngines('the check of loaded changes', (engine) => {
  for (const [what, isDryRun] of [
    ['an invalid file', false],
    ['a dry run', true],
  ] as const)
    test(`of ${what} waits for no other write of the same animals`, async (t) => {
      const { database, store, listPets } = await openWithPets(t, engine, 2);
      const commit = await beginWrite(t, store, "update pets set name = 'Held'");
      const bad: BadChanges[] = [];
      const loading = loadPets(database, toBatches(sell(1n, 2), sell(9n, 3)), {
        onBadChanges: collect(bad),
        onChecked() {
          if (!isDryRun) throw new OperatorError('1 row is invalid');
        },
        isDryRun,
      });
      if (isDryRun) assert.deepEqual(await loading, { added: 0, changed: 1 });
      else await assert.rejects(loading, /1 row is invalid/);
      assert.deepEqual(bad, [{ count: 1, first: [{ line: 3, ...rules.unknown }] }]);
      await commit();
      assert.deepEqual(await listPets(), ['Held available', 'Held available']);
    });

  /** Loads while another program, which commits after the check, runs `sql`. */
  async function loadBeside(
    t: TestContext,
    { database, store }: { readonly database: Database; readonly store: Store },
    sql: string,
    onBadChanges?: (bad: BadChanges) => void,
  ) {
    const commit = await beginWrite(t, store, sql);
    const checked = Promise.withResolvers<void>();
    const options = { onChecked: checked.resolve, ...(onBadChanges && { onBadChanges }) };
    const loading = loadPets(database, toBatches(sell(1n, 2), sell(2n, 3), sell(3n, 4)), options);
    await Promise.race([checked.promise, loading]);
    const [loaded] = await Promise.allSettled([loading, commit()]);
    if (loaded.status === 'rejected') throw loaded.reason;
    return loaded.value;
  }

  test('is repeated under the lock, so an import is refused if an order takes an animal after the check', async (t) => {
    const opened = await openWithPets(t, engine, 3);
    await assert.rejects(loadBeside(t, opened, own(2)), /^OperatorError: line 3: status must stay/);
    assert.deepEqual(await opened.listPets(), ['Rex available', 'Rex pending', 'Rex available']);
  });

  test('is repeated under the lock, so a change is skipped if its animal is gone or owned after the check', async (t) => {
    const opened = await openWithPets(t, engine, 3);
    const bad: BadChanges[] = [];
    const sql = `${own(3)}; delete from pets where id = 1`;
    assert.deepEqual(await loadBeside(t, opened, sql, collect(bad)), { added: 0, changed: 1 });
    const first = [
      { line: 2, ...rules.unknown },
      { line: 4, ...rules.owned },
    ];
    assert.deepEqual(bad, [{ count: 2, first }]);
    assert.deepEqual(await opened.listPets(), ['Rex sold', 'Rex pending']);
  });

  test('reports the first 1,000 bad changes in the order of their lines, with the number of all', async (t) => {
    const { database } = await openWithPets(t, engine, 1);
    const bad: BadChanges[] = [];
    const changes = Array.from({ length: 2_500 }, (_, at) => sell(BigInt(at + 1), 2_501 - at));
    await loadPets(database, toBatches(...changes), { onBadChanges: collect(bad) });
    assert.deepEqual(
      bad.map(({ count, first }) => [count, first.length, first.at(0)?.line, first.at(-1)?.line]),
      [[2_499, 1_000, 2, 1_001]],
    );
  });

  test('reads each row a fixed number of times, however many are bad', async (t) => {
    const { database } = await openWithPets(t, engine, 2_000);
    const explained = explainLoads(database);
    const run = async (rows: number) => {
      // One of four changes is valid, one names no animal, and two repeat an earlier one.
      const ids = Array.from({ length: rows }, (_, at) => [at + 1, 1_000_000 + at, at, 1][at % 4] as number);
      const changes = ids.map((id, at) => sell(BigInt(id === 0 ? 1 : id), at + 2));
      await loadPets(explained.database, toBatches(...changes), { onBadChanges: () => undefined });
      return explained.take();
    };
    const [few, many] = [await run(40), await run(4_000)];
    assert.deepEqual(many.statements, few.statements);
    assert.deepEqual([...few.repeatedScans, ...many.repeatedScans], []);
    assert.ok(many.rowsRead < 40 * 4_000, `${many.rowsRead} rows`);
  });
});
