import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AppError, OperatorError, OutcomeUnknownError, UsageError } from '../../src/errors.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import { addOnePet } from '../../src/pets/catalogue.ts';
import { insertPet, selectOldest, selectPet } from '../../src/pets/pet-rows.ts';
import type { Database } from '../../src/storage/database.ts';
import { petValues } from '../support/catalogue.ts';
import { describeOnEngines, openStore } from '../support/engines.ts';
import {
  addWindow,
  insertSecret,
  insertWindow,
  selectFromNowhere,
  selectSecret,
  selectSubjects,
  selectUsed,
  unavailable,
} from './window-rows.ts';
import {
  addAndReadWindow,
  addAndRefuse,
  addAndThrow,
  addIfAlone,
  addPet,
  addWindows,
  countUp,
} from './works.ts';

/** What each engine says if a row with the same primary or unique key exists. */
const uniqueViolation = /unique constraint/i;

const available = (name: string) => ({ name, categoryId: 1n, status: 'available' });

const readUsed = async (database: Database, subject: string) =>
  (await database.read(selectUsed, { subject }))[0]?.used;

const readSubjects = async (database: Database) =>
  (await database.read(selectSubjects, {})).map(({ subject }) => subject);

/** Contract tests of `read`, `run`, `transact` and `close` in src/storage/database.ts. */
await describeOnEngines('a database', (engine) => {
  const open = async (t: TestContext) => (await openStore(t, engine)).database;
  const openTwo = async (t: TestContext) => {
    const { store, database } = await openStore(t, engine);
    return [database, await store.open()] as const;
  };

  test('a read returns the rows of its statement, which may be none', async (t) => {
    const database = await open(t);
    assert.equal((await database.read(selectUsed, { subject: 'a' })).length, 0);
    await addWindow(database, 'a');
    await database.run(insertWindow, { subject: 'b', used: 2n });
    assert.equal(await readUsed(database, 'b'), 2n);
  });

  test('a read sees what another instance has committed', async (t) => {
    const [database, other] = await openTwo(t);
    for (const subject of ['a', 'b']) await addWindow(database, subject);
    assert.deepEqual(await readSubjects(other), ['a', 'b']);
  });

  test('simultaneous reads aside, of which one is invalid, are each answered as if alone', async (t) => {
    const [database, other] = await openTwo(t);
    await addWindow(other, 'a');
    const aside = (subject: string) => database.readAside(selectUsed, { subject });
    const found = aside('a');
    const invalid = database.readAside(selectFromNowhere, {});
    const none = aside('b');
    await assert.rejects(invalid, (error) => !(error instanceof AppError));
    assert.deepEqual([(await found).length, (await none).length], [1, 0]);
  });

  test('any integer, text and bytes are stored exactly', async (t) => {
    const database = await open(t);
    const integers = [int64Min, -1n, 0n, 2n ** 53n + 1n, int64Max];
    for (const used of integers) {
      await database.run(insertWindow, { subject: `${used}`, used });
      assert.equal(await readUsed(database, `${used}`), used);
    }
    const texts = ['', ' ', `'"\\$1?:x--\t\r\n`, '\u00e9 e\u0301', '\u{1f408}\u200d\u2b1b\uffff\u{10ffff}'];
    for (const subject of texts) {
      const [row] = await database.run(insertWindow, { subject, used: 0n });
      assert.equal(row?.subject, subject);
      assert.equal((await database.read(selectUsed, { subject })).length, 1);
    }
    for (const length of [0, 256]) {
      const value = Uint8Array.from({ length }, (_, index) => index);
      await database.run(insertSecret, { name: `${length} bytes`, value });
      const [row] = await database.read(selectSecret, { name: `${length} bytes` });
      assert.ok(row?.value instanceof Uint8Array);
      assert.deepEqual(Array.from(row.value), Array.from(value));
    }
  });

  test('simultaneous calls, of which some are invalid, are each answered as if alone', async (t) => {
    const database = await open(t);
    const add = (name: string, status = 'sold') =>
      database.run(insertPet, petValues({ ...available(name), status }));
    const results = await Promise.allSettled([
      add('a'),
      database.transact(addPet, { ...available('b'), status: 'lost' }),
      add('c'),
      database.transact(addPet, available('d')),
      addWindow(database, 'w'),
      add('e', 'lost'),
      add('f'),
    ]);
    for (const [index, name] of ['a', null, 'c', 'd', 'w', null, 'f'].entries()) {
      const result = results[index];
      assert.equal(result?.status, name === null ? 'rejected' : 'fulfilled');
      const [row] = result?.status === 'fulfilled' ? result.value : [];
      if (row !== undefined && 'id' in row)
        assert.equal((await database.read(selectPet, { id: row.id }))[0]?.name, name);
      else assert.equal(row?.subject ?? null, name);
    }
    assert.equal((await database.read(selectOldest, { afterId: 0n, count: 100n })).length, 4);
  });

  test('of simultaneous adds, one that is invalid or refused after its write leaves nothing behind', async (t) => {
    const database = await open(t);
    const values = (name: string, status = 'sold') => petValues({ ...available(name), status });
    for (const fail of [
      () => database.transact(addAndRefuse, values('refused')),
      () => database.transact(addOnePet, values('invalid', 'lost')),
    ]) {
      const add = (name: string) => database.transact(addOnePet, values(name));
      const results = await Promise.allSettled([add('a'), fail(), add('b')]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
    }
    const stored = await database.read(selectOldest, { afterId: 0n, count: 100n });
    assert.deepEqual(stored.map(({ name }) => name).sort(), ['a', 'a', 'b', 'b']);
  });

  test('an invalid statement is reported as a bug, not as an unavailable store', async (t) => {
    const database = await open(t);
    const isMistake = (error: unknown) => error instanceof Error && !(error instanceof AppError);
    await assert.rejects(async () => database.read(selectFromNowhere, {}), isMistake);
    await assert.rejects(database.run(selectFromNowhere, {}), isMistake);
  });

  test('a transaction sees its own writes', async (t) => {
    const database = await open(t);
    assert.equal(await database.transact(addAndReadWindow, { subject: 'a', used: 1n }), 1n);
  });

  test('a transaction resolves when all others can see its writes', async (t) => {
    const database = await open(t);
    await database.transact(addWindows, [{ subject: 'a', used: 1n }]);
    assert.equal(await readUsed(database, 'a'), 1n);
  });

  test('a transaction that throws leaves nothing but its error, which keeps its class', async (t) => {
    const database = await open(t);
    const types = { AppError, OperatorError, UsageError, OutcomeUnknownError, Error };
    for (const [name, type] of Object.entries(types)) {
      const message = 'no further';
      const code = name === 'AppError' ? { code: 'idempotency_key_reused' } : {};
      const input = { subject: 'a', used: 1n, name: name as keyof typeof types, message };
      const failing = database.transact(addAndThrow, input);
      await assert.rejects(failing, type);
      await assert.rejects(failing, { name, message, ...code });
    }
    assert.deepEqual(await readSubjects(database), []);
  });

  test('a violated unique constraint is reported as such, also by a transaction', async (t) => {
    const database = await open(t);
    const windows = [1n, 2n].map((used) => ({ subject: 'a', used }));
    await assert.rejects(database.transact(addWindows, windows), uniqueViolation);
    assert.deepEqual(await readSubjects(database), []);
    await addWindow(database, 'a');
    await assert.rejects(database.run(insertWindow, { subject: 'a', used: 2n }), uniqueViolation);
    assert.equal(await readUsed(database, 'a'), 1n);
  });

  test('concurrent transactions that increment the same row lose no update', async (t) => {
    const instances = await openTwo(t);
    await instances[0].run(insertWindow, { subject: 'a', used: 0n });
    const work = (_: unknown, index: number) => instances[index % 2 === 0 ? 0 : 1].transact(countUp, 'a');
    await Promise.all(Array.from({ length: 30 }, work));
    assert.equal(await readUsed(instances[0], 'a'), 30n);
  });

  test('one of two transactions that read what the other writes sees the write', async (t) => {
    const instances = await openTwo(t);
    await Promise.all([
      instances[0].transact(addIfAlone, { subject: 'a', used: 1n }),
      instances[1].transact(addIfAlone, { subject: 'b', used: 1n }),
    ]);
    assert.equal((await readSubjects(instances[0])).length, 1);
  });

  test('a read sees all writes of a concurrent transaction or none', async (t) => {
    const database = await open(t);
    const addPair = (_: unknown, index: number) => {
      const windows = ['left', 'right'].map((side) => ({ subject: `${index} ${side}`, used: 1n }));
      return database.transact(addWindows, windows);
    };
    const works = Array.from({ length: 20 }, addPair);
    const reads = await Promise.all(Array.from({ length: 20 }, () => readSubjects(database)));
    await Promise.all(works);
    for (const subjects of reads) assert.equal(subjects.length % 2, 0);
  });

  test('a close completes earlier calls', async (t) => {
    const { store, database } = await openStore(t, engine);
    const add = (_: unknown, index: number) => addWindow(database, `${index}`);
    const adds = Array.from({ length: 50 }, add);
    const aside = [database.readAside(selectSubjects, {}), database.readAside(selectSubjects, {})];
    await database.close();
    await Promise.all([...adds, ...aside]);
    assert.equal((await readSubjects(await store.open())).length, 50);
  });

  test('a second close does nothing', async (t) => {
    const database = await open(t);
    await database.close();
    await assert.doesNotReject(database.close());
    await assert.rejects(addWindow(database, 'a'), unavailable);
  });

  test('calls after a close are refused as unavailable', async (t) => {
    const database = await open(t);
    await database.close();
    await assert.rejects(async () => database.read(selectSubjects, {}), unavailable);
    await assert.rejects(database.readAside(selectSubjects, {}), unavailable);
    await assert.rejects(addWindow(database, 'a'), unavailable);
  });
});
