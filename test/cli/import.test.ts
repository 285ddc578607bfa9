import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough, Readable } from 'node:stream';
import { describe, type TestContext, test } from 'node:test';
import { importFile } from '../../src/cli/import.ts';
import { OutcomeUnknownError } from '../../src/errors.ts';
import type { Catalogue } from '../../src/pets/catalogue.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { createWorld, type Ran, runInProcess, type World } from '../support/command-line.ts';
import { sqliteEngine } from '../support/engines.ts';
import { makeFolder } from '../support/service.ts';

const header = 'name,categoryId,status\n';
const categoryRule = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/**
 * Imports a file with this content into a store. The file `-` is standard input. Returns the output and the animals, each
 * as `id name categoryId status`.
 */
async function load(world: World, name: string, content: string, options = '', isTTY = false) {
  const file = name === '-' ? name : join(world.folder, name);
  if (name !== '-') await writeFile(file, content);
  const ran = await world.run(`import "${file}" ${options}`, { stdin: content, isTTY });
  const rows = world.execute('select id, name, category_id, status from pets order by id');
  return { ...ran, file, pets: rows.map((row) => Object.values(row).join(' ')) };
}

/** Like `load`, into a new store. */
async function loadAlone(t: TestContext, ...given: [name: string, content: string, ...rest: string[]]) {
  return load(await createWorld(t), ...given);
}

function expectRefusal({ code, stderr }: Ran, line: RegExp) {
  assert.equal(code, 1);
  assert.match(stderr, line);
}

describe('import', () => {
  const twoRows = `${header}Rex,1,sold\nTom,2,\n`;

  test('adds the animals of a file in order, with the default status available', async (t) => {
    const { pets } = await loadAlone(t, 'a.csv', twoRows);
    assert.deepEqual(pets, ['1 Rex 1 sold', '2 Tom 2 available']);
  });

  test('makes no store if REQUIRE_STORE is true, until migrate has made it', async (t) => {
    const folder = await makeFolder(t);
    const url = `sqlite:${join(folder, 'store.db')}`;
    const options = { stdin: twoRows, settings: { REQUIRE_STORE: 'true' } };
    const refused = await runInProcess('import - --format csv', url, options);
    expectRefusal(refused, /^error: there is no store [^\n]*, and REQUIRE_STORE is true: [^\n]*\n$/);
    assert.deepEqual(await readdir(folder), []);
    assert.equal((await runInProcess('migrate', url, options)).code, 0);
    assert.match((await runInProcess('import - --format csv', url, options)).stdout, /^imported 2 animals /);
  });

  test('makes no store for a file that cannot be read', async (t) => {
    const folder = await makeFolder(t);
    const refused = await runInProcess(['import', join(folder, 'none.csv')], `sqlite:${folder}/store.db`);
    expectRefusal(refused, /^error: nothing was imported: [^\n]*none\.csv cannot be read: ENOENT[^\n]*\n$/);
    const isFolder = await runInProcess(`import ${folder} --format csv`, `sqlite:${folder}/store.db`);
    expectRefusal(isFolder, /^error: nothing was imported: [^\n]* cannot be read: EISDIR[^\n]*\n$/);
    assert.deepEqual(await readdir(folder), []);
  });

  test('prints the number of imported animals', async (t) => {
    const { stdout, stderr, file } = await loadAlone(t, 'a.csv', twoRows);
    assert.match(stdout.replace(file, 'FILE'), /^imported 2 animals from FILE in \d+\.\d s\n$/);
    assert.equal(stderr, '');
  });

  const ndjson = '{"name":"Rex","categoryId":1}\n';
  for (const [name, content, options] of [
    ['animals.ndjson', ndjson, ''],
    ['animals.jsonl', ndjson, ''],
    ['ANIMALS.CSV', 'name,categoryId\nRex,1\n', ''],
    ['animals.csv', ndjson, '--format ndjson'],
    ['-', `${header}Rex,1,sold\n`, '--format csv'],
  ] as const)
    test(`knows the format of ${name} ${options}`, async (t) => {
      const { pets, stdout } = await loadAlone(t, name, content, options);
      assert.equal(pets.length, 1);
      if (name === '-') assert.match(stdout, /^imported 1 animal from standard input/);
    });

  test('takes the example catalogues', async (t) => {
    const { readJson } = await createWorld(t);
    for (const [name, imported] of Object.entries({ 'animals.csv': 300, 'animals.ndjson': 40 })) {
      const file = join(import.meta.dirname, '../../examples', name);
      assert.partialDeepStrictEqual(await readJson(`import ${file}`), { imported, errorsTotal: 0 });
    }
  });
});

describe('import of a file with bad rows', () => {
  test('shows the beginning of a long value, with control characters escaped', async (t) => {
    const long = JSON.stringify({ name: 'Rex', categoryId: `\u001b[31m${'x'.repeat(1_000)}` });
    const { stderr } = await loadAlone(t, 'animals.ndjson', `${long}\n`);
    const [line = '', error = ''] = stderr.split('\n');
    assert.match(line, /, not "\\u001b\[31mx+…$/);
    assert.ok(line.length < 250 && !stderr.includes('\u001b'));
    assert.match(error, /1 of 1 row is invalid; --skip-invalid/);
  });

  test('shows a number exactly as the file has it', async (t) => {
    const number = '{"name":"Rex","categoryId":1e400}\n';
    const shown = await loadAlone(t, 'animals.ndjson', number);
    assert.ok(shown.stderr.startsWith(`line 1: categoryId ${categoryRule}, not 1e400\n`));
    assert.match((await loadAlone(t, 'animals.ndjson', number, '--json')).stdout, /"value":1e400}/);
  });

  const mixed = `${header}${'Rex,1,sold\n'.repeat(20_000)}Tom,x,gone\nBo,2,\n,3,\n`;

  test('adds nothing and prints the line, field, rule and value of each bad row on standard error', async (t) => {
    const refused = await loadAlone(t, 'animals.csv', mixed);
    assert.deepEqual(refused.pets, []);
    assert.equal(refused.stdout, '');
    const [first, second, third = ''] = refused.stderr.split('\n');
    assert.equal(first, `line 20002: categoryId ${categoryRule}, not "x"`);
    assert.equal(second, 'line 20002: status must be one of available, pending, sold, not "gone"');
    assert.match(third, /^line 20004: name must be a string of 1 to 255 characters/);
    expectRefusal(refused, /\nerror: nothing was imported: 2 of 20,003 rows are invalid; --skip-invalid/);
  });

  test('adds the valid rows with --skip-invalid and prints both numbers, also with --json', async (t) => {
    const { pets, stdout, code } = await loadAlone(t, 'animals.csv', mixed, '--skip-invalid');
    assert.equal(code, 0);
    assert.equal(pets.length, 20_001);
    assert.equal(pets.at(-1), '20001 Bo 2 available');
    assert.match(stdout, /^imported 20,001 animals from .* s, skipped 2 invalid rows\n$/);
    const told = await loadAlone(t, 'a.csv', `${header}Rex,1,\nTom,,\n`, '--json --skip-invalid');
    const errors = [{ line: 3, field: 'categoryId', rule: categoryRule, value: '' }];
    const counts = { imported: 1, changed: 0, dryRun: false, skipped: 1 };
    assert.deepEqual(JSON.parse(told.stdout), { ...counts, errors, errorsTotal: 1 });
  });

  const manyBadRows = `{"name":"Rex"}\n${'[]\n'.repeat(1_233)}`;

  test('prints the first 20 bad rows', async (t) => {
    const lines = (await loadAlone(t, 'animals.ndjson', manyBadRows)).stderr.split('\n');
    assert.match(lines.slice(19, 22).join('\n'), /^line 20: must be .*\n… and 1214 more\nerror: /);
  });

  test('with --json prints one value with at most 1,000 errors and the total number', async (t) => {
    const refused = await loadAlone(t, 'animals.ndjson', manyBadRows, '--json');
    const { errors, ...rest } = JSON.parse(refused.stdout);
    assert.deepEqual(rest, { imported: 0, changed: 0, dryRun: false, skipped: 0, errorsTotal: 1_234 });
    assert.equal(errors.length, 1_000);
    assert.deepEqual(errors.slice(0, 2), [
      { line: 1, field: 'categoryId', rule: 'is required' },
      { line: 2, field: null, rule: 'must be a JSON object' },
    ]);
    expectRefusal(refused, /^error: .*1,234 rows are invalid/);
  });

  test('adds nothing with --skip-invalid if a part of the file is unreadable', async (t) => {
    const content = `${header}Rex,x,\nRex,1,\n"Tom,2,\n"Bo",3,\n`;
    const refused = await loadAlone(t, 'animals.csv', content, '--json --skip-invalid');
    assert.partialDeepStrictEqual(JSON.parse(refused.stdout), { imported: 0, skipped: 0 });
    expectRefusal(refused, /^error: nothing was imported: line 4: /);
    assert.deepEqual(refused.pets, []);
  });
});

/** Imports CSV from standard input into a catalogue. */
function importInto(catalogue: Catalogue, content: string) {
  const options = { format: 'csv', skipInvalid: false, dryRun: false } as const;
  const by = { actor: { kind: 'command', name: 'mira' }, nowMs: 0 } as const;
  const stdin = Readable.from([Buffer.from(content)]);
  return importFile(catalogue, '-', stdin, options, by, {
    stdin,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  });
}

test('import reports no numbers if its outcome is unknown', async (t) => {
  const store = await sqliteEngine.createStore(t);
  const catalogue = openCatalogue(await store.open());
  const lost: Catalogue = {
    ...catalogue,
    async load(...given) {
      await catalogue.load(...given);
      throw new OutcomeUnknownError('the connection was lost');
    },
  };
  const { json, failure } = await importInto(lost, `${header}Rex,1,\n`);
  assert.partialDeepStrictEqual(json, { imported: null, changed: null, skipped: 0, errorsTotal: 0 });
  assert.ok(failure instanceof OutcomeUnknownError);
});

const unknownColumn = 'name,categoryId,Colour\nRex,1,red\n';

test('import refuses an unknown column by name', async (t) => {
  const refused = await loadAlone(t, 'a.csv', unknownColumn);
  expectRefusal(refused, /column "Colour" is not known/);
  assert.deepEqual(refused.pets, []);
});

test('import with --ignore-unknown ignores an unknown column', async (t) => {
  const { code, pets } = await loadAlone(t, 'a.csv', unknownColumn, '--ignore-unknown');
  assert.deepEqual([code, pets.length], [0, 1]);
});

test('a terminal on standard error shows the progress of an import', async (t) => {
  const { stdout, stderr } = await load(await createWorld(t), 'a.csv', `${header}Rex,1,\n`, '', true);
  assert.match(stderr, /reading \[.* 0 % of 0\.0 MiB.*writing \[.* 100 %/s);
  assert.match(stdout, /^imported 1 animal/);
  const piped = await load(await createWorld(t), '-', `${header}Rex,1,\n`, '--format csv', true);
  assert.match(piped.stderr, /^(?!.*%).*reading 0\.0 MiB/s);
});

describe('imported rows with an id', () => {
  const exported = 'id,name,categoryId,status\n';

  async function prepare(t: TestContext) {
    const world = await createWorld(t);
    await load(world, 'three.csv', `${header}Rex,1,\nTom,1,\nKit,1,\n`);
    return world;
  }

  test('change existing animals and count only those that differ, while rows without an id add animals', async (t) => {
    const content = `${exported}2,Max,7,sold\n,New,8,\n3,Kit,1,\n`;
    const { stdout, pets } = await load(await prepare(t), 'a.csv', content, '--json');
    assert.partialDeepStrictEqual(JSON.parse(stdout), { imported: 1, changed: 1, skipped: 0, dryRun: false });
    assert.deepEqual(pets, ['1 Rex 1 available', '2 Max 7 sold', '3 Kit 1 available', '4 New 8 available']);
  });

  test('leave omitted fields unchanged', async (t) => {
    const content = '{"id":1,"status":"sold"}\n{"id":2,"name":"Max"}\n{"id":3}\n';
    const { pets } = await load(await prepare(t), 'a.ndjson', content);
    assert.deepEqual(pets, ['1 Rex 1 sold', '2 Max 1 available', '3 Kit 1 available']);
  });

  test('are refused with the whole import if one of them is impossible', async (t) => {
    const world = await prepare(t);
    world.execute("update pets set is_owned = 1, status = 'pending' where id = 3");
    const content = `${exported}9,A,1,\n1,B,1,\n1,C,1,\n3,D,1,sold\n,E,1,\n2,F,1,\n`;
    const refused = await load(world, 'a.csv', content, '--json');
    const rule = 'must stay as it is: an order owns this animal, and only the order changes its status';
    assert.deepEqual(JSON.parse(refused.stdout).errors, [
      { line: 2, field: 'id', rule: 'names no animal' },
      { line: 4, field: 'id', rule: 'is already in an earlier row' },
      { line: 5, field: 'status', rule },
    ]);
    expectRefusal(refused, /^error: nothing was imported: 3 of 6 rows are invalid/);
    assert.deepEqual(refused.pets, ['1 Rex 1 available', '2 Tom 1 available', '3 Kit 1 pending']);
    const skipped = await load(world, 'a.csv', content, '--json --skip-invalid');
    assert.partialDeepStrictEqual(JSON.parse(skipped.stdout), { imported: 1, changed: 2, skipped: 3 });
    const names = skipped.pets.map((pet) => pet.split(' ')[1]);
    assert.deepEqual(names, ['B', 'F', 'Kit', 'E']);
  });

  test('are all checked by --dry-run, which writes nothing', async (t) => {
    const content = 'id,name,categoryId\n1,Max,2\n,Tom,3\n7,Kit,4\n';
    const dry = await load(await prepare(t), 'a.csv', content, '--dry-run --skip-invalid');
    assert.equal(dry.code, 0);
    assert.match(dry.stdout, /^would import 1 animal and change 1 from .* s, skipped 1 invalid row\n$/);
    assert.match(dry.stderr, /^line 4: id names no animal\n/);
    assert.deepEqual([dry.pets.length, dry.pets[0]], [3, '1 Rex 1 available']);
  });
});

describe('import of changes beside another write', () => {
  const content = 'id,name,categoryId,status\n1,Rex,1,sold\n2,Tom,1,sold\n';

  test('an import with --dry-run succeeds while another program has the lock of the store', async (t) => {
    const world = await createWorld(t);
    await load(world, 'two.csv', `${header}Rex,1,\nTom,1,\n`);
    const locker = new DatabaseSync(join(world.folder, 'store.db'));
    t.after(() => locker.close());
    locker.exec('begin immediate');
    const { stdout } = await load(world, 'a.csv', content, '--dry-run');
    assert.match(stdout, /^would import 0 animals and change 2 /);
  });

  test('an import is refused with the line of an animal that an order takes after the check', async (t) => {
    const store = await sqliteEngine.createStore(t);
    const catalogue = openCatalogue(await store.open());
    for (const name of ['Rex', 'Tom']) await catalogue.add({ name, categoryId: 1n });
    const overtaken: Catalogue = {
      ...catalogue,
      load: (batches, options) =>
        catalogue.load(batches, {
          ...options,
          onChecked() {
            options?.onChecked?.();
            void store.execute("update pets set is_owned = 1, status = 'pending' where id = 2");
          },
        }),
    };
    const { json, failure } = await importInto(overtaken, content);
    assert.match(String(failure), /nothing was imported: 1 of 2 rows is invalid/);
    assert.partialDeepStrictEqual(json, {
      imported: 0,
      errors: [{ line: 3, field: 'status' }],
      errorsTotal: 1,
    });
    assert.deepEqual(await store.execute("select id from pets where status = 'sold'"), []);
  });
});

/** Returns the source and the numbers of each import in the audit log. */
const listImports = (world: World) =>
  world
    .execute("select subject, after from audit where action = 'pets.imported' order by id")
    .map(({ subject, after }) => [subject, JSON.parse(String(after))]);

test('the audit log has no entry for an import without an effect', async (t) => {
  const world = await createWorld(t);
  await load(world, '-', `${header}Rex,1,\n`, '--format csv --dry-run');
  assert.equal((await load(world, '-', `${header}Rex,1,\nTom,x,\n`, '--format csv')).code, 1);
  assert.deepEqual(listImports(world), []);
});

test('the audit log has one entry for each import, with its source without a folder and its numbers', async (t) => {
  const world = await createWorld(t);
  await load(world, '-', `${header}Rex,1,\n`, '--format csv');
  const rows = 'id,name,categoryId\n1,Max,2\n,Tom,3\n,Bo,3\n7,Kit,4\n,Bad,x\n';
  await load(world, 'a.csv', rows, '--skip-invalid');
  assert.deepEqual(listImports(world), [
    ['standard input', { added: 1, changed: 0, refused: 0 }],
    ['a.csv', { added: 2, changed: 1, refused: 2 }],
  ]);
});

test('import --once refuses a file whose content was imported before, under any name', async (t) => {
  const { folder, url, execute } = await createWorld(t);
  const [first, second] = [join(folder, 'first.csv'), join(folder, 'second.csv')];
  for (const file of [first, second]) await writeFile(file, `${header}Rex,1,\n`);
  const countPets = () => execute('select count(*) as count from pets')[0]?.['count'];
  assert.equal((await runInProcess(['import', first], url)).code, 0);
  const { code, stderr } = await runInProcess(['import', second, '--once'], url);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: nothing was imported: a file with the same content was imported before at 20/,
  );
  assert.equal(countPets(), 1);
  assert.equal((await runInProcess(['import', second], url)).code, 0);
  assert.equal(countPets(), 2);
});
