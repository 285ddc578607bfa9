import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openDatabase } from '../../src/storage/open-database.ts';
import { fillStore, readContents } from '../contracts/store-contents.ts';
import { expectMistake, runInProcess, unopened } from '../support/command-line.ts';
import { sqliteEngine } from '../support/engines.ts';
import { whyNoMounts, withMounts } from '../support/mounts.ts';
import { runProgram } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

/** Creates a store with rows in every table, and the address of a store that does not exist yet. */
async function prepare(t: TestContext) {
  const source = await sqliteEngine.createStore(t);
  const original = await source.open();
  await fillStore(original);
  return { from: source.url, to: `sqlite:${await makeFolder(t)}/moved.db`, original };
}

/** Runs a move that must fail with one line. */
async function expectRefusal(from: string, to: string, line: RegExp): Promise<void> {
  expectMistake(await runInProcess(['migrate', '--from', from, '--to', to], unopened), 1, line);
}

describe('migrate', () => {
  test('without --from and --to updates the schema of the store at DATABASE_URL', async (t) => {
    const { code, stdout } = await runInProcess(['migrate'], `sqlite:${await makeFolder(t)}/store.db`);
    assert.deepEqual([code, stdout], [0, 'the sqlite store has the newest schema\n']);
  });

  test('prints the reason if it cannot create the schema, such as a full disk', async (t) => {
    const file = join(await makeFolder(t), 'store.db');
    const { code, stderr } = await runProgram(['migrate'], {
      settings: { DATABASE_URL: `sqlite:${file}` },
      wrapper: ['sh', '-c', 'ulimit -f 128; exec "$@"', 'sh'],
    });
    assert.equal(code, 1);
    assert.match(stderr, /^error: the database .+ cannot be opened: .*(?:full|disk I\/O error).*\n$/);
  });

  test('--from names a source that it cannot lock because its disk is read-only', {
    skip: whyNoMounts(),
  }, async (t) => {
    const folder = await makeFolder(t);
    const [from, to] = [`sqlite:${folder}/store.db`, `sqlite:${await makeFolder(t)}/moved.db`];
    await runInProcess(['migrate'], from);
    const { code, stderr } = await runProgram(['migrate', '--from', from, '--to', to], {
      wrapper: withMounts({ readOnly: folder }),
    });
    assert.equal(code, 1);
    assert.match(stderr, /^error: the database .+store\.db cannot be opened: [^\n]+\n$/);
  });

  test('--from --to copies a whole store and reports what it copied, with its progress on a terminal', async (t) => {
    const { from, to, original } = await prepare(t);
    const move = `migrate --from ${from} --to ${to}`;
    const { code, stdout, stderr } = await runInProcess(move, unopened, { isTTY: true });
    assert.equal(code, 0);
    assert.match(stderr, /moving \[.* % of 24,066 rows.*checking \[.* 100 % of 24,066 rows/s);
    const moved = /^moved 12,000 animals, 2 accounts and 11 keys in \d+\.\d s, and compared every row\n$/;
    assert.match(stdout, moved);
    const copy = await openDatabase(to);
    t.after(() => copy.close());
    const { audit = [], ...contents } = await readContents(copy);
    assert.deepEqual({ ...contents, audit: [] }, await readContents(original));
    assert.equal(audit.length, 1);
    assert.match(String(audit[0]), /store\.migrated.*"from":"sqlite","animals":12000/);
    await expectRefusal(from, to, /moved\.db is not empty: nothing was moved/);
    const again = await runInProcess(`${move.replace('moved', 'again')} --json`, unopened);
    const owners = { accounts: 2, keys: 11, usageWindows: 13, bans: 11 };
    const shop = { animals: 12_000, orders: 0, events: 12_000, firstAnswers: 11 };
    assert.deepEqual(JSON.parse(again.stdout), { ...owners, ...shop });
  });

  test('refuses to move a store to itself, however its path is written', async (t) => {
    const { from } = await prepare(t);
    const other = from.replace(/store\.db$/, './store.db');
    await expectRefusal(from, other, /cannot be moved to itself/);
  });

  test('refuses a missing source without creating it or the target', async (t) => {
    const folder = await makeFolder(t);
    const [from, to] = [`sqlite:${join(folder, 'none.db')}`, `sqlite:${join(folder, 'moved.db')}`];
    await expectRefusal(from, to, /there is no store [^\n]*none\.db: /);
    assert.deepEqual(await readdir(folder), []);
  });

  test('never shows a password', async (t) => {
    const { from } = await prepare(t);
    const closed = 'postgres://root:hunter2@127.0.0.1:1/animals';
    const line = /^(?!.*hunter2).*127\.0\.0\.1:1\/animals cannot be opened/;
    await expectRefusal(closed, from, line);
    await expectRefusal(from, closed, line);
  });
});
