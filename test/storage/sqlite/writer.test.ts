import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { int64Max } from '../../../src/int64.ts';
import { insertPet } from '../../../src/pets/pet-rows.ts';
import type { Database } from '../../../src/storage/database.ts';
import { openConnection, type SqliteConnection } from '../../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../../src/storage/sqlite/database.ts';
import {
  createSqliteWriter,
  gatheredCommitsMax,
  waitingWorksMax,
  writeWaitMsMax,
} from '../../../src/storage/sqlite/writer.ts';
import { insertWindow, selectSubjects } from '../../contracts/window-rows.ts';
import { addSecret, addWindows, doNothing } from '../../contracts/works.ts';

const unavailable = { name: 'AppError', code: 'unavailable' };

interface OpenFile {
  readonly path: string;
  readonly database: Database;
  /** The connection that `database` does not know of, as a writer of its own would have. */
  readonly connection: SqliteConnection;
}

async function openFile(t: TestContext): Promise<OpenFile> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const path = join(folder, 'store.db');
  const database = await openSqlite(path);
  const connection = openConnection(path, 0);
  t.after(async () => {
    await database.close();
    connection.close();
    await rm(folder, { recursive: true });
  });
  return { path, database, connection };
}

test('what is written while another process writes waits for it, and is done then', async (t) => {
  const { database, path } = await openFile(t);
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const added = database.run(insertWindow, { subject: 'a', used: 1n });
  setImmediate(() => setImmediate(() => other.close()));
  await added;
  assert.equal((await database.read(selectSubjects, {})).length, 1);
});

describe('a commit', () => {
  /** A writer, how many commits it has begun, and its clock, which stands still but for commits that are told to take time. */
  async function startWriter(t: TestContext) {
    const { connection, path, database } = await openFile(t);
    const begun = { commits: 0 };
    const clock = { ms: 0, commitMs: 0 };
    t.mock.method(performance, 'now', () => clock.ms);
    function requireInPlace(): void {
      begun.commits += 1;
      clock.ms += clock.commitMs;
    }
    const writer = createSqliteWriter({ ...connection, requireInPlace });
    const write = () => writer.transact(doNothing, null);
    return { begun, clock, connection, path, database, writer, write };
  }

  test('is shared by those who come in two turns of the event loop', async (t) => {
    const { begun, write } = await startWriter(t);
    const first = write();
    await nextTurn();
    await Promise.all([first, write(), write()]);
    assert.equal(begun.commits, 1);
  });

  test('is made at once for one who comes after one that was alone', async (t) => {
    const { begun, write } = await startWriter(t);
    for (let commits = 1; commits <= 3; commits += 1) {
      const written = write();
      assert.equal(begun.commits, commits === 1 ? 0 : commits);
      await written;
      assert.equal(begun.commits, commits);
      await nextTurn();
    }
  });

  test('is shared by those who come behind one that was not made to wait, and by all that come then', async (t) => {
    const { begun, write } = await startWriter(t);
    await write();
    const alone = write();
    assert.equal(begun.commits, 2);
    const behind = write();
    await nextTurn();
    assert.equal(begun.commits, 2);
    await Promise.all([alone, behind, write()]);
    assert.equal(begun.commits, 3);
  });

  test('is shared by two who come together, also after one that was alone', async (t) => {
    const { begun, write } = await startWriter(t);
    await write();
    await Promise.all([write(), write()]);
    assert.equal(begun.commits, 3);
    for (let pairs = 1; pairs <= 3; pairs += 1) {
      await Promise.all([write(), write()]);
      assert.equal(begun.commits, 3 + pairs);
    }
  });

  test('that is made at once and fails undoes nothing of those behind it', async (t) => {
    const { begun, writer, database } = await startWriter(t);
    const write = (subject: string) => writer.run(insertWindow, { subject, used: 1n });
    await write('a');
    const again = write('a');
    assert.equal(begun.commits, 2);
    const outcomes = await Promise.allSettled([again, write('b')]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
    assert.equal((await database.read(selectSubjects, {})).length, 2);
  });

  test('that is made at once waits for another process all the same, and the end waits for it', async (t) => {
    const { begun, path, writer, write } = await startWriter(t);
    await write();
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    let isWritten = false;
    const written = write().then(() => {
      isWritten = true;
    });
    assert.equal(begun.commits, 2);
    const drained = writer.drain();
    await nextTurn();
    other.close();
    await drained;
    assert.equal(isWritten, true);
    await written;
    assert.ok(begun.commits > 2);
  });

  /** The same after a commit of so long, with what lets those who wait for others have waited long enough. */
  async function startSlow(t: TestContext, commitMs: number) {
    const parts = await startWriter(t);
    const { begun, clock, write } = parts;
    clock.commitMs = commitMs;
    await Promise.all([write(), write()]);
    await nextTurn();
    begun.commits = 0;
    const waitLong = () => {
      clock.ms += gatheredCommitsMax * commitMs + 0.01;
    };
    return { ...parts, waitLong };
  }

  for (const commitMs of [0.2, 5]) {
    test(`of ${commitMs} ms does not wait for another turn after a long one`, async (t) => {
      const { begun, waitLong, write } = await startSlow(t, commitMs);
      const works = [write(), write()];
      waitLong();
      await nextTurn();
      assert.equal(begun.commits, 1);
      await Promise.all(works);
    });

    test(`of ${commitMs} ms is made at once for one who comes when the first has waited long, and for all before it`, async (t) => {
      const { begun, clock, waitLong, write } = await startSlow(t, commitMs);
      const works = [write(), write()];
      clock.ms += gatheredCommitsMax * commitMs;
      works.push(write());
      assert.equal(begun.commits, 0);
      waitLong();
      works.push(write());
      assert.equal(begun.commits, 1);
      const behind = [write(), write()];
      await Promise.all(works);
      await nextTurn();
      assert.equal(begun.commits, 1);
      await Promise.all([...behind, write()]);
      assert.equal(begun.commits, 2);
    });
  }

  test('that is made in the midst of a turn and fails undoes only what fails', async (t) => {
    const { begun, waitLong, writer, database } = await startSlow(t, 1);
    const write = (subject: string) => writer.run(insertWindow, { subject, used: 1n });
    const works = [write('a'), write('a')];
    waitLong();
    works.push(write('b'));
    assert.equal(begun.commits, 4);
    const outcomes = await Promise.allSettled(works);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.equal((await database.read(selectSubjects, {})).length, 2);
  });

  test('that cannot be undone refuses all that it held, and those after it are well', async (t) => {
    const { connection, waitLong, writer, write } = await startSlow(t, 1);
    const exec = t.mock.method(connection.raw, 'exec', () => {
      throw new Error('out of memory');
    });
    const failing = writer.transact(addWindows, [{ subject: 'a', used: 'many' as never }]);
    const works = [failing, write()];
    waitLong();
    works.push(write());
    for (const { status } of await Promise.allSettled(works)) assert.equal(status, 'rejected');
    exec.mock.restore();
    await assert.rejects(write());
    await write();
  });

  test('is not tried anew for each who comes while another process writes', async (t) => {
    const { begun, path, waitLong, writer, write } = await startSlow(t, 1);
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    const works = [write(), write()];
    waitLong();
    works.push(write());
    assert.equal(begun.commits, 1);
    works.push(write(), write());
    waitLong();
    works.push(write());
    assert.equal(begun.commits, 1);
    other.close();
    await writer.drain();
    await Promise.all(works);
  });

  test('is made in the midst of a turn again once those who waited for another process have been refused', async (t) => {
    const { begun, clock, path, waitLong, write } = await startSlow(t, 1);
    const other = new DatabaseSync(path);
    other.exec('begin immediate');
    const refused = [write(), write()].map((work) => assert.rejects(work, unavailable));
    clock.ms += writeWaitMsMax + 1;
    await Promise.all(refused);
    other.close();
    await nextTurn();
    begun.commits = 0;
    const works = [write(), write()];
    waitLong();
    works.push(write());
    assert.equal(begun.commits, 1);
    await Promise.all(works);
  });
});

test('before each commit it is told that it will be waited for', async (t) => {
  const { connection } = await openFile(t);
  const told: string[] = [];
  const requireInPlace = () => void told.push('commit');
  const writer = createSqliteWriter({ ...connection, requireInPlace }, () => told.push('wait'));
  const write = () => writer.transact(doNothing, null);
  await Promise.all([write(), write()]);
  assert.deepEqual(told, ['wait', 'commit']);
  await nextTurn();
  await write();
  await nextTurn();
  const alone = write();
  assert.deepEqual(told.slice(4), ['wait', 'commit']);
  await alone;
});

test('a work beyond those that may wait is refused at once', async (t) => {
  const { connection, path } = await openFile(t);
  const writer = createSqliteWriter(connection);
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const waiting = Array.from({ length: waitingWorksMax }, () => writer.transact(doNothing, null));
  await assert.rejects(writer.transact(doNothing, null), unavailable);
  other.close();
  await Promise.all(waiting);
});

test('waiting for the works to settle ends also where they fail', async (t) => {
  const { connection } = await openFile(t);
  const writer = createSqliteWriter(connection);
  const failing = assert.rejects(writer.transact(addWindows, [{ subject: 'a', used: 1n }]), unavailable);
  const drained = writer.drain();
  connection.close();
  await drained;
  await failing;
});

test('ids that run out refuse what gets none, and nothing else; past 2^53 a commit is made and told once', async (t) => {
  const { database, connection } = await openFile(t);
  const pet = { name: 'Rex', categoryId: 1n, status: 'available' };
  connection.raw.exec(`insert into pets values (${int64Max - 3n}, 'Max', 1, 'sold')`);
  const added = await Promise.allSettled(Array.from({ length: 8 }, () => database.run(insertPet, pet)));
  const ids = added.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  assert.deepEqual(ids, [{ id: int64Max - 2n }, { id: int64Max - 1n }, { id: int64Max }]);
  for (const result of added.slice(3))
    assert.equal(result.status === 'rejected' && result.reason.code, 'unavailable');
});

test('animals that a trigger of the operator leaves out are not answered with the ids of others', async (t) => {
  const { database, connection } = await openFile(t);
  connection.raw.exec(
    "create trigger no_cats before insert on pets when new.name = 'Cat' begin select raise(ignore); end",
  );
  const names = ['Rex', 'Cat', 'Max', 'Cat'];
  const added = await Promise.allSettled(
    names.map((name) => database.run(insertPet, { name, categoryId: 1n, status: 'available' })),
  );
  assert.deepEqual(
    added.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
  );
  const ids = added.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  assert.deepEqual(ids, [{ id: 1n }, { id: 2n }]);
});

test('a full disk refuses what does not fit and nothing else, and is well again when there is room', async (t) => {
  const { database, connection } = await openFile(t);
  const writer = createSqliteWriter(connection);
  const addLarge = () => writer.transact(addSecret, { name: 'large', value: new Uint8Array(1e6) });
  const addSmall = (subject: string) => writer.transact(addWindows, [{ subject, used: 1n }]);
  const [pages] = connection.raw.prepare('pragma page_count').all();
  connection.raw.exec(`pragma max_page_count = ${pages?.['page_count']}`);

  const [small, large] = await Promise.allSettled([addSmall('a'), addLarge()]);
  assert.equal(small.status, 'fulfilled');
  assert.equal(large.status === 'rejected' && large.reason.code, 'unavailable');
  assert.equal((await database.read(selectSubjects, {})).length, 1);

  connection.raw.exec('pragma max_page_count = 100000');
  await addLarge();
});
