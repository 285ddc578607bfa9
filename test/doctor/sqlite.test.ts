import assert from 'node:assert/strict';
import { chmod, glob, mkdir, open, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { foreignKeysMax } from '../../src/accounts/api-key.ts';
import { dayMs, systemClock } from '../../src/clock.ts';
import { checkOwnership } from '../../src/doctor/machine.ts';
import { inspectSqlite } from '../../src/doctor/sqlite.ts';
import { checkContent, type Query } from '../../src/doctor/store.ts';
import { newestSchema } from '../../src/storage/migrations/migrate.ts';
import { createWorld, type World } from '../support/command-line.ts';
import { whyNoMounts, withMounts } from '../support/mounts.ts';
import { obeyPermissions } from '../support/obey-permissions.ts';
import { runProgram } from '../support/processes.ts';
import { type Ending, makeFolder, startService } from '../support/service.ts';
import { createSqliteStore } from '../support/sqlite-files.ts';
import { examineWith, expectFinding } from './examined.ts';

const inStaging = { environment: 'staging', requireStore: false, webhookSecretKeys: [] } as const;

/** Creates a store with an account in a new folder, by the clock of the machine. */
async function makeStore(test: Ending) {
  const world = await createWorld(test);
  await world.run('keys create --plan free', { clock: systemClock });
  return { ...world, file: world.path, settings: { DATABASE_URL: world.url } };
}

/** Resolves when another process has opened the file, or when `looking` settles first. */
async function untilOpenedBy(looking: Promise<unknown>, file: string): Promise<void> {
  const isOver = looking.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([isOver, isOpenElsewhere(file)])));
}

async function isOpenElsewhere(file: string): Promise<boolean> {
  for await (const descriptor of glob('/proc/[0-9]*/fd/*')) {
    const isOurs = descriptor.startsWith(`/proc/${process.pid}/`);
    if (!isOurs && (await readlink(descriptor).catch(() => '')) === file) return true;
  }
  return false;
}

function makeAnimals(count: number): string {
  return `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into pets (name, category_id, status) select 'Rex ' || i, i, 'available' from n`;
}

async function damage(file: string): Promise<void> {
  const { size } = await stat(file);
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(size / 2, 0x5a), 0, size / 2, size / 2);
  await handle.close();
}

describe('about a SQLite store, the doctor reports', () => {
  test('that it is intact and current, without a change to its folder', async (t) => {
    const { folder, file, settings } = await makeStore(t);
    const look = async () => [await readdir(folder), await readFile(file), (await stat(file)).mtimeMs];
    const before = await look();
    const findings = await examineWith(settings);
    expectFinding(findings, 'store', 'ok', /store\.db is intact, no service serves it now/);
    expectFinding(findings, 'schema', 'ok', new RegExp(`the newest, "${newestSchema.at(-1)}"`));
    expectFinding(findings, 'writing', 'ok', /can be written/);
    expectFinding(findings, 'disk', 'ok', /are free for a store of 0\.\d MiB/);
    expectFinding(findings, 'clock', 'ok', /newest row of the store was written \d+ s ago/);
    assert.deepEqual(await look(), before);
  });

  test('that the store does not exist yet, without creating it', async (t) => {
    const folder = await makeFolder(t);
    const findings = await examineWith({ DATABASE_URL: `sqlite:${folder}/new/store.db` });
    expectFinding(findings, 'store', 'ok', /there is no .*store\.db yet/);
    expectFinding(findings, 'writing', 'ok', /can be written/);
    assert.deepEqual(await readdir(folder), []);
  });

  test('that REQUIRE_STORE keeps a service from making the missing store', async (t) => {
    const DATABASE_URL = `sqlite:${join(await makeFolder(t), 'store.db')}`;
    const findings = await examineWith({ DATABASE_URL, REQUIRE_STORE: 'true' });
    expectFinding(findings, 'store', 'problem', /there is no .*store\.db, and REQUIRE_STORE is true/);
  });

  test('that REQUIRE_STORE keeps a service from making tables in an empty file', async (t) => {
    const file = join(await makeFolder(t), 'store.db');
    await writeFile(file, '');
    const findings = await examineWith({ DATABASE_URL: `sqlite:${file}`, REQUIRE_STORE: 'true' });
    expectFinding(findings, 'schema', 'problem', /^there are no tables, and REQUIRE_STORE is true$/);
  });

  test('that a service is using it', async (t) => {
    const { config } = await startService(t, {}, { now: systemClock, advance: () => undefined });
    const findings = await examineWith({ DATABASE_URL: config.databaseUrl });
    expectFinding(findings, 'store', 'ok', /a service serves it now/);
  });

  test('that it is intact even if another process writes during the check', async (t) => {
    const { file, execute } = await makeStore(t);
    execute(makeAnimals(1_000_000));
    const looking = inspectSqlite(file, inStaging, systemClock, 60_000);
    await untilOpenedBy(looking, file);
    for (let turn = 0; turn < 8; turn += 1) execute(makeAnimals(5_000));
    expectFinding((await looking).findings, 'store', 'ok', /is intact/);
  });

  type Harm = (world: World) => unknown;
  const newer = `insert into schema_migrations values ('9999-newer', '2030-01-01T00:00:00.000Z')`;
  const noDatabase = 'This is a text of more than a hundred bytes. '.repeat(100);
  const makeFolderOf: Harm = async ({ path }) => {
    await rm(path);
    await mkdir(path);
  };
  const faults: readonly (readonly [what: string, harm: Harm, check: string, is: RegExp])[] = [
    [
      'its schema is newer than the program',
      ({ execute }) => execute(newer),
      'schema',
      /newer than .* has "9999-newer"/,
    ],
    ['its pages are damaged', ({ path }) => damage(path), 'store', /is damaged|malformed/],
    [
      'it is no database',
      ({ path }) => writeFile(path, noDatabase),
      'store',
      /cannot be opened: file is not/,
    ],
    ['its path is a folder', makeFolderOf, 'store', /it is not a file/],
  ];
  for (const [what, harm, check, is] of faults)
    test(`that ${what}`, async (t) => {
      const world = await makeStore(t);
      await harm(world);
      expectFinding(await examineWith(world.settings), check, 'problem', is);
    });

  test('that its newest row has a time in the future', async (t) => {
    const { settings } = await makeStore(t);
    const findings = await examineWith(settings, () => Date.now() - 3 * dayMs);
    expectFinding(findings, 'clock', 'problem', /newest row of the store is dated 3 days ahead/);
  });

  test('that its newest row is not in the future if it was written during the check', async (t) => {
    const { run, execute, clock } = await createWorld(t);
    const query: Query = async (sql, values = []) => {
      clock.advance(3_000);
      await run('keys create --plan free');
      return execute(sql.trim(), values);
    };
    const findings = await checkContent('sqlite', query, inStaging, clock.now);
    expectFinding(findings, 'clock', 'ok', /written 0 s ago/);
  });

  test('how much of its size is unused', async (t) => {
    const { execute, settings } = await makeStore(t);
    expectFinding(await examineWith(settings), 'size', 'ok', /takes 0\.\d MiB, of which 0\.0 MiB are unused/);
    const filler = 'insert into filler select zeroblob(80 * 1024 * 1024)';
    execute(`create table filler (bytes blob); ${filler}; drop table filler`);
    expectFinding(await examineWith(settings), 'size', 'warning', /takes 80\.\d MiB, of which 80\.\d MiB/);
  });

  test('that other users can write to it, or read it or its copies', async (t) => {
    const { folder, file, settings } = await makeStore(t);
    const expect = async (ENVIRONMENT: string, verdict: 'ok' | 'warning' | 'problem', is: RegExp) =>
      expectFinding(await examineWith({ ...settings, ENVIRONMENT }), 'permissions', verdict, is);
    await chmod(folder, 0o755);
    await chmod(file, 0o644);
    await expect('development', 'ok', /store\.db 644/);
    await expect('production', 'warning', /others can read .*: \S+store\.db$/);
    await chmod(file, 0o600);
    await expect('production', 'ok', /store\.db 600/);
    await writeFile(`${file}.before-0004`, '', { mode: 0o644 });
    await expect('production', 'warning', /others can read .*\.before-0004$/);
    const backups = await makeFolder(t);
    await chmod(backups, 0o755);
    await writeFile(join(backups, 'animal-store-1.sqlite'), '', { mode: 0o644 });
    expectFinding([await checkOwnership(file, false, backups)], 'permissions', 'warning', /-1\.sqlite$/);
    await chmod(file, 0o666);
    await expect('development', 'problem', /others can write to the store/);
  });

  test('that other users can read a store whose name does not end in .db, or its copy', async (t) => {
    const folder = await makeFolder(t);
    const file = join(folder, 'store.sqlite');
    await createSqliteStore(file);
    await writeFile(`${file}.before-0004`, '', { mode: 0o644 });
    await chmod(folder, 0o755);
    await chmod(file, 0o644);
    const nowhere = join(folder, 'nowhere');
    const expect = async (is: RegExp) =>
      expectFinding([await checkOwnership(file, false, nowhere)], 'permissions', 'warning', is);
    await expect(/: \S+store\.sqlite \S+\.before-0004$|: \S+\.before-0004 \S+store\.sqlite$/);
    await chmod(file, 0o600);
    await expect(/: \S+\.before-0004$/);
  });

  test('that this user cannot write to its folder', async (t) => {
    const { folder, settings } = await makeStore(t);
    await chmod(folder, 0o555);
    const { code, stdout, stderr } = await runProgram(['doctor', '--json'], {
      settings: { ...settings, PORT: '0', OPS_PORT: '0' },
      wrapper: obeyPermissions,
    });
    await chmod(folder, 0o755);
    assert.equal(code, 1, stderr);
    const { findings } = JSON.parse(stdout);
    expectFinding(findings, 'writing', 'problem', /this user may not write to /);
    expectFinding(findings, 'store', 'ok', /is intact/);
  });

  test('that its disk is read-only', { skip: whyNoMounts() }, async (t) => {
    const { folder, settings } = await makeStore(t);
    const { stdout } = await runProgram(['doctor', '--json'], {
      settings: { ...settings, PORT: '0', OPS_PORT: '0' },
      wrapper: withMounts({ readOnly: folder }),
    });
    expectFinding(JSON.parse(stdout).findings, 'writing', 'problem', /cannot be written \(EROFS\)/);
  });

  test('the ids of active keys from another environment, but no revoked keys', async (t) => {
    const { settings, readJson, print } = await makeStore(t);
    const elsewhere = { ...settings, ENVIRONMENT: 'production' };
    const [{ id }] = await readJson('keys list');
    const named = new RegExp(`^keys of another environment do not work in production: ${id}$`);
    expectFinding(await examineWith(elsewhere), 'keys', 'warning', named);
    await print(`keys revoke ${id}`);
    assert.ok((await examineWith(elsewhere)).every(({ check }) => check !== 'keys'));
  });

  test('that there are more keys from another environment only if it does not list them all', async (t) => {
    const { settings, execute } = await makeStore(t);
    const elsewhere = { ...settings, ENVIRONMENT: 'production' };
    const addKeys = (count: number) =>
      execute(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
        insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
        select 'key_' || hex(randomblob(8)), account_id, randomblob(32), visible_start, scopes, created_at_ms
        from n, (select * from api_keys limit 1)`);
    addKeys(foreignKeysMax - 1);
    expectFinding(await examineWith(elsewhere), 'keys', 'warning', /: key_\w+(?:, key_\w+){9}$/);
    addKeys(1);
    expectFinding(await examineWith(elsewhere), 'keys', 'warning', /: key_\w+(?:, key_\w+){9} and more$/);
  });
});
