import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { type ImportOptions, importFile } from '../../src/cli/import.ts';
import { systemClock } from '../../src/clock.ts';
import { OperatorError, OutcomeUnknownError, UsageError } from '../../src/errors.ts';
import type { Catalogue } from '../../src/pets/catalogue.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { findPostgres } from '../support/engines.ts';
import { eventually } from '../support/redis-server.ts';
import { startRelay } from '../support/relay.ts';
import { by, createWorld, listPets, run } from './import-world.ts';

const postgres = await findPostgres();
const header = 'name,categoryId,status\n';
const categoryRule = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** Imports a file with this name and content. If the name is `-`, the content comes from standard input. */
async function runImport(
  test: TestContext,
  name: string,
  content: string,
  options: Partial<ImportOptions> & { readonly isTTY?: boolean } = {},
) {
  const { folder, catalogue } = await createWorld(test);
  const { isTTY = false, ...given } = options;
  const file = name === '-' ? name : join(folder, name);
  if (name !== '-') await writeFile(file, content);
  const ran = await run(
    (terminal) =>
      importFile(catalogue, { file, skipInvalid: false, dryRun: false, json: false, by, ...given }, terminal),
    { stdin: content, isTTY },
  );
  return { ...ran, file, pets: await listPets(catalogue) };
}

function assertRefused(error: unknown, message: RegExp) {
  assert.ok(error instanceof OperatorError);
  assert.match(error.message, message);
}

describe('import', () => {
  test('adds the animals of a file in order, with the default status available', async (t) => {
    const { pets, error } = await runImport(t, 'animals.csv', `${header}Rex,1,sold\nTom,2,\n`);
    assert.equal(error, null);
    assert.deepEqual(pets, [
      { id: 1n, name: 'Rex', categoryId: 1n, status: 'sold' },
      { id: 2n, name: 'Tom', categoryId: 2n, status: 'available' },
    ]);
  });

  test('prints the number of animals, the file and the seconds', async (t) => {
    const { stdout, stderr, file } = await runImport(t, 'animals.csv', `${header}Rex,1,sold\n`);
    assert.match(stdout.replace(file, 'FILE'), /^imported 1 animal from FILE in \d+\.\d s\n$/);
    assert.equal(stderr, '');
  });

  for (const [name, content] of [
    ['animals.ndjson', '{"name":"Rex","categoryId":1}\n'],
    ['animals.jsonl', '{"name":"Rex","categoryId":1}\n'],
    ['ANIMALS.CSV', 'name,categoryId\nRex,1\n'],
  ] as const)
    test(`detects the format by the extension of ${name}`, async (t) => {
      assert.equal((await runImport(t, name, content)).pets.length, 1);
    });

  test('prefers --format over the file extension', async (t) => {
    const { pets } = await runImport(t, 'animals.csv', '{"name":"Rex","categoryId":1}\n', {
      format: 'ndjson',
    });
    assert.equal(pets.length, 1);
  });

  test('requires --format if the file extension does not show the format', async (t) => {
    for (const name of ['animals.txt', '-']) {
      const { error } = await runImport(t, name, header);
      assert.ok(error instanceof UsageError);
      assert.match(error.message, /is not known: add --format csv or --format ndjson/);
    }
  });

  test('reads standard input if the file is -', async (t) => {
    const { pets, stdout } = await runImport(t, '-', `${header}Rex,1,sold\n`, { format: 'csv' });
    assert.equal(pets.length, 1);
    assert.match(stdout, /^imported 1 animal from standard input/);
  });

  test('fails with one line if the file does not exist', async (t) => {
    const { catalogue, folder } = await createWorld(t);
    const file = join(folder, 'nowhere.csv');
    const { error } = await run((terminal) =>
      importFile(catalogue, { file, skipInvalid: false, dryRun: false, json: false, by }, terminal),
    );
    assertRefused(error, /nowhere\.csv cannot be read: ENOENT/);
  });

  test('refuses a file that does not match the format, and adds nothing', async (t) => {
    const { error, pets } = await runImport(t, 'animals.csv', 'Rex,1,sold\n');
    assertRefused(error, /^nothing was imported: line 1: the header must have a column "name"/);
    assert.deepEqual(pets, []);
  });
});

describe('import of a file without rows', () => {
  for (const [name, text] of [
    ['animals.csv', header],
    ['animals.ndjson', ''],
  ] as const)
    test(`reports that there are no rows: ${name}`, async (t) => {
      const { stdout, error } = await runImport(t, name, text);
      assert.equal(error, null);
      assert.match(stdout, /^imported 0 animals from .* s: it has no rows\n$/);
    });

  for (const [separator, name] of [
    [';', 'semicolons'],
    ['\t', 'tabs'],
  ] as const)
    test(`separated by ${name} is refused with a message that names the expected separator`, async (t) => {
      const text = 'name,categoryId,status\nRex,1,sold\n'.replaceAll(',', separator);
      const { error, pets } = await runImport(t, 'animals.csv', text);
      assertRefused(
        error,
        new RegExp(`line 1: the columns are separated by ${name}; they must be separated by commas`),
      );
      assert.deepEqual(pets, []);
    });
});

describe('import of a file with bad rows', () => {
  test('shows the beginning of a long value, with control characters escaped', async (t) => {
    const long = JSON.stringify({ name: 'Rex', categoryId: `\u001b[31m${'x'.repeat(1_000)}` });
    const { stderr } = await runImport(t, 'animals.ndjson', `${long}\n`);
    assert.match(stderr, /, not "\\u001b\[31mx+…\n$/);
    assert.ok(stderr.length < 250 && !stderr.includes('\u001b'));
  });

  const mixed = `${header}${'Rex,1,sold\n'.repeat(20_000)}Tom,x,gone\nBo,2,\n,3,\n`;

  test('adds nothing and prints the line, field, rule and value of each bad row on standard error', async (t) => {
    const { pets, stdout, stderr, error } = await runImport(t, 'animals.csv', mixed);
    assert.deepEqual(pets, []);
    assert.equal(stdout, '');
    assert.deepEqual(stderr.split('\n').slice(0, 2), [
      `line 20002: categoryId ${categoryRule}, not "x"`,
      'line 20002: status must be one of available, pending, sold, not "gone"',
    ]);
    assert.match(stderr, /\nline 20004: name must be a string of 1 to 255 characters.*\n$/);
    assertRefused(error, /^nothing was imported: 2 of 20,003 rows are invalid; --skip-invalid/);
  });

  test('adds the valid rows with --skip-invalid and prints both numbers', async (t) => {
    const { pets, stdout, stderr, error } = await runImport(t, 'animals.csv', mixed, { skipInvalid: true });
    assert.equal(error, null);
    assert.equal(pets.length, 20_001);
    assert.equal(pets.at(-1)?.name, 'Bo');
    assert.match(stdout, /^imported 20,001 animals from .* s, skipped 2 invalid rows\n$/);
    assert.equal(stderr.split('\n').length, 4);
  });

  test('prints the first 20 bad rows and the number of further bad rows', async (t) => {
    const { stderr } = await runImport(t, 'animals.csv', `${header}${'Rex,x,\n'.repeat(1_234)}`);
    const lines = stderr.trimEnd().split('\n');
    assert.equal(lines.length, 21);
    assert.equal(lines[19], `line 21: categoryId ${categoryRule}, not "x"`);
    assert.equal(lines[20], '… and 1214 more');
  });

  test('with --json prints one value with at most 1,000 errors and the total number', async (t) => {
    const { stdout, stderr, error } = await runImport(
      t,
      'animals.ndjson',
      `{"name":"Rex"}\n${'[]\n'.repeat(1_233)}`,
      { json: true },
    );
    const { errors, ...rest } = JSON.parse(stdout);
    assert.deepEqual(rest, { imported: 0, changed: 0, dryRun: false, skipped: 0, errorsTotal: 1_234 });
    assert.equal(errors.length, 1_000);
    assert.deepEqual(errors.slice(0, 2), [
      { line: 1, field: 'categoryId', rule: 'is required' },
      { line: 2, field: null, rule: 'must be a JSON object' },
    ]);
    assert.equal(stderr, '');
    assertRefused(error, /1,234 rows are invalid/);
  });

  test('with --json and --skip-invalid prints the numbers of added and skipped rows', async (t) => {
    const { stdout } = await runImport(t, 'animals.csv', `${header}Rex,1,\nTom,,\n`, {
      json: true,
      skipInvalid: true,
    });
    assert.deepEqual(JSON.parse(stdout), {
      imported: 1,
      changed: 0,
      dryRun: false,
      skipped: 1,
      errors: [{ line: 3, field: 'categoryId', rule: categoryRule, value: '' }],
      errorsTotal: 1,
    });
  });
});

test('import reports an unknown outcome if the connection is lost during the commit', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const relay = await startRelay(t, store.url);
  const catalogue = openCatalogue(await store.open(relay.url), systemClock);
  await store.execute(`create function wait() returns trigger language plpgsql as
    'begin perform pg_sleep(30); return null; end'`);
  await store.execute('create trigger slow after insert on pets for each statement execute function wait()');
  let cutting: Promise<void> | undefined;
  async function cutWhileInserting(): Promise<void> {
    await eventually(
      async () =>
        (await store.execute("select 1 from pg_stat_activity where wait_event = 'PgSleep'")).length > 0,
    );
    await relay.cut();
  }
  const cut: Catalogue = {
    ...catalogue,
    load: (batches, options) =>
      catalogue.load(batches, {
        ...options,
        check() {
          options?.check?.();
          cutting = cutWhileInserting();
        },
      }),
  };
  const options = { file: '-', format: 'csv', skipInvalid: false, dryRun: false, json: true, by } as const;
  const { stdout, error } = await run((terminal) => importFile(cut, options, terminal), {
    stdin: `${header}Rex,1,\n`,
  });
  assert.deepEqual(JSON.parse(stdout), {
    imported: null,
    changed: null,
    dryRun: false,
    skipped: 0,
    errors: [],
    errorsTotal: 0,
  });
  assert.ok(error instanceof OutcomeUnknownError);
  assert.match(error.message, /either all rows were added or none/);
  await cutting;
});

test('import --skip-invalid adds nothing if a part of the file is unreadable', async (t) => {
  const content = `${header}Rex,x,\nRex,1,\n"Tom,2,\n"Bo",3,\n`;
  const { stdout, error, pets } = await runImport(t, 'animals.csv', content, {
    json: true,
    skipInvalid: true,
  });
  const { imported, skipped } = JSON.parse(stdout);
  assert.deepEqual({ imported, skipped }, { imported: 0, skipped: 0 });
  assertRefused(error, /^nothing was imported: line 4: /);
  assert.deepEqual(pets, []);
});

describe('the progress of an import', () => {
  test('is shown on standard error if that is a terminal: first for reading, then for writing', async (t) => {
    const { stdout, stderr } = await runImport(t, 'animals.csv', `${header}Rex,1,\n`, { isTTY: true });
    assert.match(stderr, /reading \[.* 0 % of 0\.0 MiB.*writing \[.* 100 %/s);
    assert.match(stdout, /^imported 1 animal/);
  });

  test('has no percentage if the size of the source is unknown', async (t) => {
    const { stderr } = await runImport(t, '-', `${header}Rex,1,\n`, { isTTY: true, format: 'csv' });
    assert.match(stderr, /reading 0\.0 MiB/);
    assert.doesNotMatch(stderr, /%/);
  });
});

test('the example catalogues can be imported', async (t) => {
  const { catalogue } = await createWorld(t);
  for (const [name, count] of [
    ['animals.csv', 300],
    ['animals.ndjson', 40],
  ] as const) {
    const file = join(import.meta.dirname, '../../examples', name);
    const { stdout, stderr } = await run((terminal) =>
      importFile(catalogue, { file, skipInvalid: false, dryRun: false, json: true, by }, terminal),
    );
    assert.deepEqual(JSON.parse(stdout), {
      imported: count,
      changed: 0,
      dryRun: false,
      skipped: 0,
      errors: [],
      errorsTotal: 0,
    });
    assert.equal(stderr, '');
  }
});

describe('imported rows with an id', () => {
  const exported = 'id,name,categoryId,status\n';

  async function prepare(t: TestContext) {
    const { folder, catalogue } = await createWorld(t);
    for (const name of ['Rex', 'Tom', 'Kit']) await catalogue.add({ name, categoryId: 1n });
    const list = async () =>
      (await catalogue.list({ limit: 100, status: null, newestId: null })).pets.toReversed();
    async function load(name: string, content: string, given: Partial<ImportOptions> = {}) {
      const file = join(folder, name);
      await writeFile(file, content);
      const options = { file, skipInvalid: false, dryRun: false, json: true, by, ...given };
      return run((terminal) => importFile(catalogue, options, terminal));
    }
    return { folder, catalogue, list, load };
  }

  test('change existing animals, while rows without an id add animals', async (t) => {
    const { list, load } = await prepare(t);
    const { stdout, error } = await load('a.csv', `${exported}2,Max,7,sold\n,New,8,\n3,Kit,1,\n`);
    assert.equal(error, null);
    assert.partialDeepStrictEqual(JSON.parse(stdout), { imported: 1, changed: 2, skipped: 0, dryRun: false });
    assert.deepEqual(await list(), [
      { id: 1n, name: 'Rex', categoryId: 1n, status: 'available' },
      { id: 2n, name: 'Max', categoryId: 7n, status: 'sold' },
      { id: 3n, name: 'Kit', categoryId: 1n, status: 'available' },
      { id: 4n, name: 'New', categoryId: 8n, status: 'available' },
    ]);
  });

  test('leave omitted fields unchanged', async (t) => {
    const { list, load } = await prepare(t);
    await load('a.ndjson', '{"id":1,"status":"sold"}\n{"id":2,"name":"Max"}\n{"id":3}\n');
    assert.deepEqual(
      (await list()).map(({ name, status }) => [name, status]),
      [
        ['Rex', 'sold'],
        ['Max', 'available'],
        ['Kit', 'available'],
      ],
    );
  });

  test('are refused with the whole import if an id is unknown or repeated, or if the status of an owned animal would change', async (t) => {
    const { folder, list, load } = await prepare(t);
    const file = new DatabaseSync(join(folder, 'store.db'));
    file.exec("update pets set is_owned = 1, status = 'pending' where id = 3");
    const before = await list();
    const content = `${exported}9,A,1,\n1,B,1,\n1,C,1,\n3,D,1,sold\n,E,1,\n2,F,1,\n`;
    const refused = await load('a.csv', content);
    assert.deepEqual(JSON.parse(refused.stdout).errors, [
      { line: 2, field: 'id', rule: 'names no animal' },
      { line: 4, field: 'id', rule: 'is already in an earlier row' },
      {
        line: 5,
        field: 'status',
        rule: 'must stay as it is: an order owns this animal, and only the order changes its status',
      },
    ]);
    assertRefused(refused.error, /^nothing was imported: 3 of 6 rows are invalid/);
    assert.deepEqual(await list(), before);
    const skipped = await load('a.csv', content, { skipInvalid: true });
    file.close();
    assert.partialDeepStrictEqual(JSON.parse(skipped.stdout), { imported: 1, changed: 2, skipped: 3 });
    assert.deepEqual(
      (await list()).map(({ name }) => name),
      ['B', 'F', 'Kit', 'E'],
    );
  });

  test('are printed with the broken rule if a field is invalid', async (t) => {
    const { load } = await prepare(t);
    const { stdout } = await load(
      'a.ndjson',
      '{"id":"1"}\n{"id":1.5}\n{"id":1,"status":"lost"}\n{"id":1,"name":null}\n',
    );
    const errors = JSON.parse(stdout).errors as { line: number; field: string }[];
    assert.deepEqual(
      errors.map(({ line, field }) => [line, field]),
      [
        [1, 'id'],
        [2, 'id'],
        [3, 'status'],
        [4, 'name'],
      ],
    );
  });

  test('write their events and update the inventory', async (t) => {
    const { folder, load } = await prepare(t);
    await load('a.csv', `${exported}1,Rex,1,sold\n2,Tom,1,\n,New,1,\n`);
    const file = new DatabaseSync(join(folder, 'store.db'));
    const events = file.prepare('select type, pet_id from events where id > 3 order by id').all();
    const totals = file.prepare('select available, pending, sold from inventory_totals').get();
    file.close();
    assert.deepEqual(
      events.map(({ type, pet_id }) => [type, pet_id]),
      [
        ['pet.updated', 1],
        ['pet.added', 4],
      ],
    );
    assert.deepEqual({ ...totals }, { available: 3, pending: 0, sold: 1 });
  });
});

describe('the audit log of imports', () => {
  const listEntries = (folder: string) => {
    const file = new DatabaseSync(join(folder, 'store.db'));
    const rows = file.prepare('select actor, action, subject, after from audit order by id').all();
    file.close();
    return rows.map(({ actor, action, subject, after }) => [
      actor,
      action,
      subject,
      JSON.parse(String(after)),
    ]);
  };

  test('has one row for an import: the file name without its folder, and the numbers of rows', async (t) => {
    const { folder, catalogue } = await createWorld(t);
    await catalogue.add({ name: 'Rex', categoryId: 1n });
    const file = join(folder, 'a.csv');
    await writeFile(file, 'id,name,categoryId\n1,Max,2\n,Tom,3\n,Bo,3\n7,Kit,4\n,Bad,x\n');
    const options = { file, skipInvalid: true, dryRun: false, json: true, by };
    assert.equal((await run((terminal) => importFile(catalogue, options, terminal))).error, null);
    assert.deepEqual(listEntries(folder), [
      ['mira', 'pets.imported', 'a.csv', { added: 2, changed: 1, refused: 2 }],
    ]);
  });

  test('names standard input as the source, and has no row for an import without effect', async (t) => {
    const { folder, catalogue } = await createWorld(t);
    const load = (stdin: string, given: Partial<ImportOptions> = {}) => {
      const options = {
        file: '-',
        format: 'csv',
        skipInvalid: false,
        dryRun: false,
        json: true,
        by,
      } as const;
      return run((terminal) => importFile(catalogue, { ...options, ...given }, terminal), { stdin });
    };
    await load(`${header}Rex,1,\n`, { dryRun: true });
    assert.notEqual((await load(`${header}Rex,1,\nTom,x,\n`)).error, null);
    assert.deepEqual(listEntries(folder), []);
    await load(`${header}Rex,1,\n`);
    assert.deepEqual(listEntries(folder), [
      ['mira', 'pets.imported', 'standard input', { added: 1, changed: 0, refused: 0 }],
    ]);
  });
});

test('import --dry-run checks everything and writes nothing', async (t) => {
  const { folder, catalogue } = await createWorld(t);
  await catalogue.add({ name: 'Rex', categoryId: 1n });
  const file = join(folder, 'a.csv');
  await writeFile(file, 'id,name,categoryId\n1,Max,2\n,Tom,3\n7,Kit,4\n');
  const options = { file, skipInvalid: true, dryRun: true, json: false, by } as const;
  const { stdout, stderr, error } = await run((terminal) => importFile(catalogue, options, terminal));
  assert.equal(error, null);
  assert.match(stdout, /^would import 1 animal and change 1 from .* s, skipped 1 invalid row\n$/);
  assert.match(stderr, /^line 4: id names no animal\n/);
  const { pets } = await catalogue.list({ limit: 100, status: null, newestId: null });
  assert.deepEqual(pets, [{ id: 1n, name: 'Rex', categoryId: 1n, status: 'available' }]);
});
