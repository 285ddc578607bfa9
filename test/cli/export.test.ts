import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough, Readable, Writable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { type ExportOptions, exportFile } from '../../src/cli/export.ts';
import { importFile } from '../../src/cli/import.ts';
import { OperatorError } from '../../src/errors.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import { petFileFormats } from '../../src/pets/pet-import.ts';
import { by, createWorld, listPets, run } from './import-world.ts';

const plain: ExportOptions = { format: 'ndjson', withoutIds: false, force: false, json: false };

async function createFilledWorld(test: TestContext, count = 2) {
  const world = await createWorld(test);
  async function* animals() {
    yield Array.from({ length: count }, (_, index) => ({
      name: `Žofka "${index}", 猫`,
      categoryId: index % 2 === 0 ? int64Min : int64Max,
      status: 'sold' as const,
    }));
  }
  await world.catalogue.load(animals());
  return world;
}

describe('export', () => {
  test('writes only the animals to standard output, each with its id, oldest first', async (t) => {
    const { catalogue } = await createFilledWorld(t, 2_500);
    const { stdout, stderr } = await run((terminal) => exportFile(catalogue, plain, terminal));
    const lines = stdout.trimEnd().split('\n');
    assert.equal(
      lines[0],
      '{"id":1,"name":"Žofka \\"0\\", 猫","categoryId":-9223372036854775808,"status":"sold"}',
    );
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).id),
      Array.from({ length: 2_500 }, (_, index) => index + 1),
    );
    assert.equal(stderr, '');
  });

  for (const format of petFileFormats)
    test(`${format} output without ids can be imported unchanged into another store`, async (t) => {
      const { catalogue, folder } = await createFilledWorld(t, 1_001);
      const other = await createWorld(t);
      const file = join(folder, `animals.${format}`);
      await run((terminal) =>
        exportFile(catalogue, { ...plain, format, withoutIds: true, output: file }, terminal),
      );
      await run((terminal) =>
        importFile(other.catalogue, { file, skipInvalid: false, dryRun: false, json: false, by }, terminal),
      );
      assert.deepEqual(await listPets(other.catalogue), await listPets(catalogue));
    });

  test('and import show a file name with escape sequences safely', async (t) => {
    const { catalogue, folder } = await createFilledWorld(t);
    const file = join(folder, 'a\u001b[31mb.csv');
    const exported = await run((terminal) =>
      exportFile(catalogue, { ...plain, format: 'csv', output: file }, terminal),
    );
    const imported = await run((terminal) =>
      importFile(catalogue, { file, skipInvalid: false, dryRun: true, json: false, by }, terminal),
    );
    for (const { stdout } of [exported, imported]) assert.match(stdout, /a\\u\{1b\}\[31mb\.csv/);
  });

  for (const format of petFileFormats)
    test(`${format} output can be imported into the same store and then changes nothing`, async (t) => {
      const { catalogue, folder } = await createFilledWorld(t, 1_001);
      const before = await listPets(catalogue);
      const file = join(folder, `animals.${format}`);
      await run((terminal) => exportFile(catalogue, { ...plain, format, output: file }, terminal));
      const options = { file, skipInvalid: false, dryRun: false, json: true, by };
      const { stdout } = await run((terminal) => importFile(catalogue, options, terminal));
      assert.partialDeepStrictEqual(JSON.parse(stdout), { imported: 0, changed: 1_001 });
      assert.deepEqual(await listPets(catalogue), before);
      const store = new DatabaseSync(join(folder, 'store.db'));
      const { count } =
        store.prepare("select count(*) as count from events where type <> 'pet.added'").get() ?? {};
      store.close();
      assert.equal(count, 0);
    });

  test('reads no more animals than standard output accepts', async (t) => {
    const { catalogue } = await createFilledWorld(t, 20_000);
    let readCount = 0;
    const watched = {
      ...catalogue,
      async *listAll() {
        for await (const pets of catalogue.listAll()) {
          readCount += pets.length;
          yield pets;
        }
      },
    };
    const stdout = new PassThrough();
    const exporting = exportFile(watched, plain, { stdin: Readable.from([]), stdout, stderr: stdout });
    await stdout[Symbol.asyncIterator]().next();
    for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate);
    assert.ok(readCount < 20_000);
    stdout.destroy();
    await assert.rejects(exporting);
  });

  test('ends without an error when the reader closes standard output', async (t) => {
    const { catalogue } = await createFilledWorld(t, 20_000);
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    });
    await exportFile(catalogue, plain, { stdin: Readable.from([]), stdout, stderr: new PassThrough() });
  });
});

describe('export to a file', () => {
  async function runToFile(test: TestContext, options: Partial<ExportOptions> & { before?: string } = {}) {
    const { before, ...given } = options;
    const { catalogue, folder } = await createFilledWorld(test);
    const target = join(folder, 'exports');
    const output = join(target, 'animals.ndjson');
    await mkdir(target);
    if (before !== undefined) await writeFile(output, before);
    const ran = await run((terminal) => exportFile(catalogue, { ...plain, output, ...given }, terminal));
    return { ...ran, output, target };
  }

  test('creates only that file and prints the number of animals', async (t) => {
    const { stdout, output, target } = await runToFile(t);
    assert.equal(stdout, `exported 2 animals to ${output}\n`);
    assert.deepEqual(await readdir(target), ['animals.ndjson']);
    assert.equal((await readFile(output, 'utf8')).split('\n').length, 3);
  });

  test('prints one JSON value with --json', async (t) => {
    const { stdout, output } = await runToFile(t, { json: true });
    assert.deepEqual(JSON.parse(stdout), { exported: 2, file: output });
  });

  test('does not replace an existing file without --force', async (t) => {
    const { error, output } = await runToFile(t, { before: 'mine' });
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /exists already: --force replaces it/);
    assert.equal(await readFile(output, 'utf8'), 'mine');
  });

  test('replaces an existing file with --force', async (t) => {
    const { error, output } = await runToFile(t, { before: 'mine', force: true });
    assert.equal(error, null);
    assert.match(await readFile(output, 'utf8'), /^\{"id":1,/);
  });

  test('refuses a target that is not a file, even with --force', async (t) => {
    const { catalogue, folder } = await createFilledWorld(t);
    const options = { ...plain, output: folder, force: true };
    const { error } = await run((terminal) => exportFile(catalogue, options, terminal));
    assert.ok(error instanceof OperatorError);
  });

  test('fails with one line if the folder does not exist', async (t) => {
    const { catalogue, folder } = await createFilledWorld(t);
    const options = { ...plain, output: join(folder, 'nowhere', 'animals.ndjson') };
    const { error } = await run((terminal) => exportFile(catalogue, options, terminal));
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /cannot be written: ENOENT/);
  });

  test('leaves the old file unchanged and no other file if it fails midway', async (t) => {
    const { catalogue, folder } = await createFilledWorld(t);
    const output = join(folder, 'animals.ndjson');
    await writeFile(output, 'mine');
    const before = await readdir(folder);
    const failing = {
      ...catalogue,
      async *listAll() {
        yield* catalogue.listAll();
        throw new Error('the store is gone');
      },
    };
    const { error } = await run((terminal) =>
      exportFile(failing, { ...plain, output, force: true }, terminal),
    );
    assert.match(String(error), /the store is gone/);
    assert.equal(await readFile(output, 'utf8'), 'mine');
    assert.deepEqual(await readdir(folder), before);
  });
});
