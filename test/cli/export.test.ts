import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { exportRows } from '../../src/cli/export.ts';
import type { Terminal } from '../../src/cli/output.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import { type PetFileFormat, petFileFormats } from '../../src/pets/pet-files.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { createWorld, expectMistake, lifetime, runInProcess, type World } from '../support/command-line.ts';
import { describeOnEngines } from '../support/engines.ts';

async function createFilledWorld(t: TestContext, count = 2): Promise<World> {
  const world = await createWorld(t);
  world.execute(`with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${count - 1})
    insert into pets (name, category_id, status, is_owned) select 'Žofka "' || n || '", 猫',
      iif(n % 2 = 0, ${int64Min}, ${int64Max}), 'sold', 0 from numbers;`);
  return world;
}

describe('export', () => {
  test('writes only the animals to standard output, each with its id, oldest first', async (t) => {
    const { print } = await createFilledWorld(t, 2_500);
    const lines = (await print('export')).trimEnd().split('\n');
    const first = '{"id":1,"name":"Žofka \\"0\\", 猫","categoryId":-9223372036854775808,"status":"sold"}';
    assert.equal(lines[0], first);
    const ids = lines.map((line) => JSON.parse(line).id);
    const expected = Array.from({ length: 2_500 }, (_, index) => index + 1);
    assert.deepEqual(ids, expected);
  });

  for (const format of petFileFormats) {
    test(`in ${format} can be imported into another store`, async (t) => {
      const world = await createFilledWorld(t, 1_001);
      const other = await createWorld(t);
      const file = join(world.folder, `animals.${format}`);
      await world.print(`export --without-ids --output ${file}`);
      await other.print(`import ${file}`);
      assert.equal(await other.print('export'), await world.print('export'));
    });

    test(`in ${format} is imported into the same store without a change`, async (t) => {
      const world = await createFilledWorld(t, 1_001);
      const before = await world.print('export');
      const file = join(world.folder, `animals.${format}`);
      await world.print(`export --output ${file}`);
      const { imported } = await world.readJson(`import ${file}`);
      assert.equal(imported, 0);
      assert.equal(await world.print('export'), before);
      const [changes] = world.execute("select count(*) as count from events where type <> 'pet.added'");
      assert.equal(changes?.['count'], 0);
    });
  }

  test('and import show a file name with escape sequences safely', async (t) => {
    const { folder, print } = await createFilledWorld(t);
    const file = join(folder, 'a\u001b[31mb.csv');
    for (const args of [
      ['export', '--output', file],
      ['import', file, '--dry-run'],
    ])
      assert.match(await print(args), /a\\u\{1b\}\[31mb\.csv/);
  });
});

describe('export to standard output', () => {
  function exportTo(
    stdout: Terminal['stdout'],
    batches: Parameters<typeof exportRows>[0],
    format?: PetFileFormat,
  ) {
    const options = { force: true, output: '-', ...(format && { format }) };
    const terminal = { stdin: Readable.from([]), stdout, stderr: new PassThrough() };
    const audit = { record: async () => undefined };
    return exportRows(batches, ['id', 'name'], 'animal', options, terminal, audit);
  }

  test('reads no more animals than standard output accepts', async (t) => {
    const { url } = await createFilledWorld(t, 20_000);
    const store = await openDatabase(url);
    t.after(() => store.close());
    let readCount = 0;
    async function* watch() {
      for await (const pets of openCatalogue(store).listAll()) {
        readCount += pets.length;
        yield pets;
      }
    }
    const stdout = new PassThrough();
    const exporting = exportTo(stdout, watch());
    await stdout[Symbol.asyncIterator]().next();
    for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate);
    assert.ok(readCount > 0 && readCount < 20_000, `${readCount}`);
    stdout.destroy();
    await assert.rejects(exporting);
  });

  test('ends without an error if the reader closes it', async (t) => {
    const { url } = await createFilledWorld(t, 20_000);
    const store = await openDatabase(url);
    t.after(() => store.close());
    const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(closed) });
    await exportTo(stdout, openCatalogue(store).listAll());
  });

  test('is what --output - means', async (t) => {
    const { print } = await createFilledWorld(t);
    assert.equal(await print('export --output -'), await print('export'));
    assert.equal(
      await print('orders export --output - --format csv'),
      await print('orders export --format csv'),
    );
  });

  async function* makeBatch() {
    yield [{ id: 1n, name: 'Rex\u001b[31m\u202e' }];
  }

  for (const format of petFileFormats)
    test(`as ${format} escapes control characters only on a terminal`, async () => {
      const write = async (isTTY: boolean) => {
        const stdout = Object.assign(new PassThrough(), { isTTY });
        await exportTo(stdout, makeBatch(), format);
        stdout.end();
        return text(stdout);
      };
      assert.match(await write(true), /Rex\\u001b\[31m\\u202e/);
      assert.ok((await write(false)).includes('\u202e'));
    });
});

await describeOnEngines('an export whose reader leaves', ({ createStore }) => {
  test('stands in the audit log', async (t) => {
    const { url } = await createStore(t);
    const stdin = `name,categoryId\n${'Rex,1\n'.repeat(5_000)}`;
    await runInProcess('import - --format csv', url, { stdin });
    const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const stderr = new PassThrough();
    const code = await runCommandLine(['export'], {
      environment: { ENVIRONMENT: 'staging', DATABASE_URL: url },
      terminal: {
        stdin: Readable.from([]),
        stdout: new Writable({ write: (_chunk, _encoding, done) => done(closed) }),
        stderr,
      },
      lifetime,
    });
    assert.deepEqual([code, stderr.read()], [0, null]);
    const { stdout } = await runInProcess('audit --action pets.exported --json', url);
    assert.partialDeepStrictEqual(JSON.parse(stdout), [{ subject: 'standard output' }]);
  });
});

describe('export to a file', () => {
  async function prepare(t: TestContext) {
    const world = await createFilledWorld(t);
    const target = join(world.folder, 'exports');
    await mkdir(target);
    return { ...world, target, output: join(target, 'animals.ndjson') };
  }

  test('creates only that file and prints the number of animals', async (t) => {
    const { print, readJson, output, target } = await prepare(t);
    assert.equal(await print(`export --output ${output}`), `exported 2 animals to ${output}\n`);
    assert.deepEqual(await readdir(target), ['animals.ndjson']);
    const [entry] = await readJson('audit --action pets.exported');
    assert.partialDeepStrictEqual(entry, { subject: output, after: { exported: 2 } });
    assert.equal((await readFile(output, 'utf8')).split('\n').length, 3);
  });

  test('succeeds on a store that cannot be written, with a warning that the audit log has no entry', async (t) => {
    const { execute, run, output } = await prepare(t);
    execute("create trigger full before insert on audit begin select raise(abort, 'the disk is full'); end");
    const { code, stderr } = await run(`export --output ${output}`);
    assert.deepEqual([code, stderr], [0, 'warning: the audit log has no entry of this: the disk is full\n']);
    assert.equal((await readFile(output, 'utf8')).split('\n').length, 3);
  });

  test('replaces an existing file only with --force', async (t) => {
    const { run, readJson, output } = await prepare(t);
    await writeFile(output, 'mine');
    expectMistake(await run(`export --output ${output}`), 1, /exists already: --force replaces it/);
    assert.equal(await readFile(output, 'utf8'), 'mine');
    assert.deepEqual(await readJson(`export --output ${output} --force`), { exported: 2, file: output });
    assert.match(await readFile(output, 'utf8'), /^\{"id":1,/);
  });

  test('replaces no file of the store under any name, like every command that writes a file', async (t) => {
    const { run, folder, path, print } = await prepare(t);
    const before = await readFile(path);
    const other = join(folder, 'other.ndjson');
    await symlink(path, other);
    const isOwn = /belongs to the store itself: name another file|is a database in use/;
    for (const file of [path, other])
      for (const command of [
        'export --force --output',
        'orders export --force --output',
        'backup --force',
        'profile --heap --force --to',
        'restore',
      ])
        expectMistake(await run(`${command} ${file}`), 1, isOwn);
    assert.deepEqual(await readFile(path), before);
    expectMistake(await run(`export --output ${path}-journal`), 1, /belongs to the store itself/);
    assert.match(await print('export'), /^{"id":1,/);
  });

  test('fails with one line if the target is a folder, or below none', async (t) => {
    const { run, folder } = await prepare(t);
    expectMistake(await run(`export --output ${folder} --force`), 1, /it is not a regular file/);
    expectMistake(
      await run(`export --output ${folder}/nowhere/a.csv`),
      1,
      /cannot be written: the folder .*nowhere does not exist/,
    );
  });
});
