import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { dayMs } from '../../src/clock.ts';
import { parseExactJson } from '../../src/exact-json.ts';
import { createFirstAnswers, type Idempotency } from '../../src/idempotency/answer-once.ts';
import { type Catalogue, createCatalogue } from '../../src/pets/catalogue.ts';
import type { NewPet, Pet } from '../../src/pets/pet.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { describeOnEngines } from '../support/engines.ts';
import { keyed as keyedBy, openShop } from './order-shop.ts';

const rex: NewPet = { name: 'Rex', categoryId: 7n, status: 'available' };

const keyed = (accountId: bigint, key: string) => keyedBy({ accountId }, key);

async function add(catalogue: Catalogue, idempotency: Idempotency, newPet = rex) {
  const { answer, isReplayed } = await catalogue.addOnce(newPet, idempotency, '/pets/');
  const pet = parseExactJson(answer.body) as Pet;
  assert.equal(answer.location, `/pets/${pet.id}`);
  return { pet, replayed: isReplayed };
}

/** Contract tests of `Idempotency-Key` (contract section 2) in src/pets/catalogue.ts. */
await describeOnEngines('idempotency keys', (engine) => {
  async function prepare(t: TestContext) {
    const { store, database, addBuyer } = await openShop(t, engine);
    const firstAnswers = createFirstAnswers(database);
    return {
      store,
      firstAnswers,
      catalogue: createCatalogue(database, firstAnswers),
      /** Opens the catalogue of another instance on the same store. */
      openOther: async () => openCatalogue(await store.open()),
      addAccount: async () => (await addBuyer()).accountId,
      countRows: async (table: 'pets' | 'first_answers') =>
        (await store.execute(`select 1 from ${table}`)).length,
      /** Makes all records older. Their age goes by the store's clock. */
      age: (ms: number) => store.execute(`update first_answers set created_at_ms = created_at_ms - ${ms}`),
    };
  }

  test('an add whose record cannot be written leaves neither an animal nor a used key', async (t) => {
    const { catalogue, addAccount, countRows } = await prepare(t);
    const once = keyed(1n + (await addAccount()), 'k');
    await assert.rejects(add(catalogue, once));
    assert.equal(await countRows('pets'), 0);
    await addAccount();
    assert.equal((await add(catalogue, once)).replayed, false);
    assert.equal(await countRows('first_answers'), 1);
  });

  test('a retry gets the first answer even after its animal was changed and deleted', async (t) => {
    const { catalogue, store, addAccount, countRows } = await prepare(t);
    const once = keyed(await addAccount(), 'k');
    const { answer } = await catalogue.addOnce(rex, once, '/pets/');
    await store.execute("update pets set name = 'Max'");
    assert.deepEqual((await catalogue.addOnce(rex, once, '/pets/')).answer, answer);
    await store.execute('delete from pets');
    assert.deepEqual((await catalogue.addOnce(rex, once, '/pets?id=')).answer, answer);
    assert.equal(await countRows('pets'), 0);
  });

  test('a key that was used for another operation or body is refused', async (t) => {
    const { catalogue, addAccount, countRows } = await prepare(t);
    const once = keyed(await addAccount(), 'k');
    await add(catalogue, once);
    const reused = { name: 'AppError', code: 'idempotency_key_reused' };
    for (const other of [{ operation: 'createOrder' }, { bodyHash: Buffer.from('another') }])
      await assert.rejects(add(catalogue, { ...once, ...other }), reused);
    assert.equal(await countRows('first_answers'), 1);
  });

  test('the store has only the hash of a key', async (t) => {
    const { catalogue, store, addAccount } = await prepare(t);
    await add(catalogue, keyed(await addAccount(), 'k-that-is-kept-nowhere'));
    const rows = await store.execute('select * from first_answers');
    assert.equal(rows.length, 1);
    assert.doesNotMatch(JSON.stringify(rows), /k-that-is-kept-nowhere/);
  });

  test('simultaneous adds and retries each get their own answer', async (t) => {
    const { catalogue, addAccount, countRows } = await prepare(t);
    const accountId = await addAccount();
    const names = Array.from({ length: 40 }, (_, place) => `Rex ${place}`);
    const addAll = (some: readonly string[]) =>
      Promise.all(some.map((name) => add(catalogue, keyed(accountId, name), { ...rex, name })));
    const first = await addAll(names.slice(0, 20));
    // The retries end a step before the adds among them.
    const mixed = await addAll(names.toReversed());
    assert.deepEqual(
      mixed.map(({ pet, replayed }) => [pet.name, replayed]),
      names.toReversed().map((name) => [name, names.indexOf(name) < 20]),
    );
    assert.deepEqual(
      mixed
        .slice(20)
        .reverse()
        .map(({ pet }) => pet),
      first.map(({ pet }) => pet),
    );
    for (const { pet } of mixed) assert.deepEqual(await catalogue.get(pet.id), pet);
    assert.equal(await countRows('pets'), 40);
  });

  test('simultaneous adds, of which one is refused and one is a retry, are each answered as if alone', async (t) => {
    const { catalogue, addAccount, countRows } = await prepare(t);
    const accountId = await addAccount();
    const [known, reused] = [keyed(accountId, 'known'), keyed(accountId, 'reused')];
    const { pet } = await add(catalogue, known);
    await add(catalogue, reused);
    const [replay, refusal, ...others] = await Promise.allSettled([
      add(catalogue, known),
      add(catalogue, { ...reused, bodyHash: Buffer.from('another') }),
      ...Array.from({ length: 10 }, (_, place) => add(catalogue, keyed(accountId, `new ${place}`))),
    ]);
    assert.deepEqual(replay, { status: 'fulfilled', value: { pet, replayed: true } });
    assert.equal(refusal?.status === 'rejected' && refusal.reason.code, 'idempotency_key_reused');
    const added = others.map((one) =>
      one.status === 'fulfilled' && !one.value.replayed ? one.value.pet.id : 0n,
    );
    assert.equal(new Set(added).size, 10);
    assert.ok(!added.includes(0n));
    for (const table of ['pets', 'first_answers'] as const) assert.equal(await countRows(table), 12);
  });

  test('50 concurrent requests with one key at two instances and their retries add one animal', async (t) => {
    const { catalogue, openOther, addAccount, countRows } = await prepare(t);
    const other = await openOther();
    const once = keyed(await addAccount(), 'k');
    const send = (count: number) =>
      Array.from({ length: count }, (_, index) => add(index % 2 === 0 ? catalogue : other, once));
    const outcomes = await Promise.allSettled(send(50));
    const added = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    assert.equal(added.filter(({ replayed }) => !replayed).length, 1);
    assert.equal(new Set(added.map(({ pet }) => pet.id)).size, 1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'idempotency_key_in_use');
    for (const { pet, replayed } of await Promise.all(send(20)))
      assert.deepEqual([pet, replayed], [added[0]?.pet, true]);
    assert.equal(await countRows('pets'), 1);
  });

  test('a record counts until a sweep after a day, however many there are', async (t) => {
    const { store, catalogue, firstAnswers, addAccount, age, countRows } = await prepare(t);
    const accountId = await addAccount();
    const old = keyed(accountId, 'old');
    await add(catalogue, old);
    const random = engine.name === 'SQLite' ? 'randomblob(32)' : `decode(md5(random()::text), 'hex')`;
    await store.execute(`with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < 1500)
      insert into first_answers (account_id, key_hash, operation, body_hash, status, location, body, created_at_ms)
      select account_id, ${random}, operation, body_hash, status, location, body, created_at_ms
      from first_answers, numbers`);
    await age(dayMs / 2);
    await firstAnswers.sweep();
    assert.equal(await countRows('first_answers'), 1_500);
    await age(dayMs / 2);
    await add(catalogue, keyed(accountId, 'young'));
    assert.equal((await add(catalogue, old)).replayed, true);
    await firstAnswers.sweep();
    assert.equal(await countRows('first_answers'), 1);
    assert.equal((await add(catalogue, old)).replayed, false);
  });
});
