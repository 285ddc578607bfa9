import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { parseExactJson } from '../../src/exact-json.ts';
import { hashIdempotencyKey } from '../../src/idempotency/first-answer.ts';
import { createFirstAnswers } from '../../src/idempotency/first-answers.ts';
import { type Catalogue, createCatalogue } from '../../src/pets/catalogue.ts';
import { findPostgres, type Store } from '../support/engines.ts';
import { eventually } from '../support/redis-server.ts';

const postgres = await findPostgres();
const rex = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
const bodyHash = createHash('sha256').update('body').digest();

describe('an Idempotency-Key at several instances over PostgreSQL', { skip: postgres.skip }, () => {
  test('is refused at every instance while its first request runs, and is replayed afterwards', async (t) => {
    const { store, first, second, accountId } = await prepare(t);
    const once = keyed(accountId);
    const unlock = await lockAccounts(t, store);
    const adding = add(first, once);
    await eventually(async () => (await countWaiting(store)) === 1);
    for (const instance of [first, second])
      await assert.rejects(add(instance, once), { name: 'AppError', code: 'idempotency_key_in_use' });
    await unlock();
    const { pet } = await adding;
    assert.deepEqual(await add(second, once), { pet, replayed: true });
    assert.deepEqual(await store.execute('select count(*)::int from pets'), [{ count: 1 }]);
  });

  test('may be used again at another instance if the server aborts its first request', async (t) => {
    const { store, first, second, accountId } = await prepare(t);
    const once = keyed(accountId);
    const unlock = await lockAccounts(t, store);
    const adding = assert.rejects(add(first, once), { name: 'AppError', code: 'unavailable' });
    await eventually(async () => (await countWaiting(store)) === 1);
    await store.execute(`select pg_terminate_backend(pid) ${waiting}`);
    await adding;
    await unlock();
    assert.equal((await add(second, once)).replayed, false);
    assert.deepEqual(await store.execute('select count(*)::int from pets'), [{ count: 1 }]);
  });
});

async function prepare(t: TestContext) {
  const store = await postgres.createStore(t);
  const databases = [await store.open(), await store.open()] as const;
  const answers = databases.map((database) => createFirstAnswers(database));
  const [first, second] = databases.map((database, index) =>
    createCatalogue(database, answers[index] ?? assert.fail()),
  );
  assert.ok(first !== undefined && second !== undefined);
  const text = `insert into accounts (name, plan, created_at_ms) values ('a', 'free', 0) returning id::text`;
  const [account] = (await store.execute(text)) as { id: string }[];
  return { store, first, second, accountId: BigInt(account?.id ?? assert.fail()) };
}

function keyed(accountId: bigint) {
  return { accountId, keyHash: hashIdempotencyKey(accountId, 'k'), operation: 'createPet', bodyHash };
}

async function add(catalogue: Catalogue, idempotency: ReturnType<typeof keyed>) {
  const { answer, isReplayed } = await catalogue.addOnce(rex, idempotency, '/pets/');
  return { pet: parseExactJson(answer.body), replayed: isReplayed };
}

/** Blocks all writes of records of an account. Returns a function that releases the lock. */
async function lockAccounts(t: TestContext, { url }: Store): Promise<() => Promise<unknown>> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  t.after(() => client.end());
  await client.query('begin; select from accounts for update');
  return () => client.query('rollback');
}

const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

async function countWaiting(store: Store): Promise<number> {
  return (await store.execute(`select pid ${waiting}`)).length;
}
