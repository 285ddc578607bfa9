import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type ImportOptions, importFile } from '../../src/cli/import.ts';
import { systemClock } from '../../src/clock.ts';
import { OperatorError, OutcomeUnknownError, UsageError } from '../../src/errors.ts';
import type { Catalogue } from '../../src/pets/catalogue.ts';
import { openCatalogue } from '../support/catalogue.ts';
import { findPostgres } from '../support/engines.ts';
import { startRelay } from '../support/relay.ts';
import { createWorld, listPets, run } from './import-world.ts';

const postgres = await findPostgres();
const header = 'name,categoryId,status\n';
const categoryRule = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** Imports a file of this name and content, or, named `-`, that content from standard input. */
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
    (terminal) => importFile(catalogue, { file, skipInvalid: false, json: false, ...given }, terminal),
    { stdin: content, isTTY },
  );
  return { ...ran, file, pets: await listPets(catalogue) };
}

function assertRefused(error: unknown, message: RegExp) {
  assert.ok(error instanceof OperatorError);
  assert.match(error.message, message);
}

describe('import', () => {
  test('adds the animals of a file in their order, available where no status is given', async (t) => {
    const { pets, error } = await runImport(t, 'animals.csv', `${header}Rex,1,sold\nTom,2,\n`);
    assert.equal(error, null);
    assert.deepEqual(pets, [
      { id: 1n, name: 'Rex', categoryId: 1n, status: 'sold' },
      { id: 2n, name: 'Tom', categoryId: 2n, status: 'available' },
    ]);
  });

  test('tells on standard output how many it added from where', async (t) => {
    const { stdout, stderr, file } = await runImport(t, 'animals.csv', `${header}Rex,1,sold\n`);
    assert.match(stdout.replace(file, 'FILE'), /^imported 1 animal from FILE in \d+\.\d s\n$/);
    assert.equal(stderr, '');
  });

  for (const [name, content] of [
    ['animals.ndjson', '{"name":"Rex","categoryId":1}\n'],
    ['animals.jsonl', '{"name":"Rex","categoryId":1}\n'],
    ['ANIMALS.CSV', 'name,categoryId\nRex,1\n'],
  ] as const)
    test(`knows the format by the ending of ${name}`, async (t) => {
      assert.equal((await runImport(t, name, content)).pets.length, 1);
    });

  test('takes the format that is named before the one of the ending', async (t) => {
    const { pets } = await runImport(t, 'animals.csv', '{"name":"Rex","categoryId":1}\n', {
      format: 'ndjson',
    });
    assert.equal(pets.length, 1);
  });

  test('asks for the format where the ending does not tell it', async (t) => {
    for (const name of ['animals.txt', '-']) {
      const { error } = await runImport(t, name, header);
      assert.ok(error instanceof UsageError);
      assert.match(error.message, /is not known: add --format csv or --format ndjson/);
    }
  });

  test('reads standard input for -', async (t) => {
    const { pets, stdout } = await runImport(t, '-', `${header}Rex,1,sold\n`, { format: 'csv' });
    assert.equal(pets.length, 1);
    assert.match(stdout, /^imported 1 animal from standard input/);
  });

  test('refuses a file that is not there with one line', async (t) => {
    const { catalogue, folder } = await createWorld(t);
    const file = join(folder, 'nowhere.csv');
    const { error } = await run((terminal) =>
      importFile(catalogue, { file, skipInvalid: false, json: false }, terminal),
    );
    assertRefused(error, /nowhere\.csv cannot be read: ENOENT/);
  });

  test('refuses a file that is none of its format and adds nothing', async (t) => {
    const { error, pets } = await runImport(t, 'animals.csv', 'Rex,1,sold\n');
    assertRefused(error, /^nothing was imported: line 1: the header must have a column name/);
    assert.deepEqual(pets, []);
  });
});

describe('import of a file with bad rows', () => {
  const mixed = `${header}${'Rex,1,sold\n'.repeat(20_000)}Tom,x,gone\nBo,2,\n,3,\n`;

  test('adds nothing and tells line, field and rule of each on standard error', async (t) => {
    const { pets, stdout, stderr, error } = await runImport(t, 'animals.csv', mixed);
    assert.deepEqual(pets, []);
    assert.equal(stdout, '');
    assert.deepEqual(stderr.split('\n').slice(0, 2), [
      `line 20002: categoryId ${categoryRule}`,
      'line 20002: status must be one of available, pending, sold',
    ]);
    assert.match(stderr, /\nline 20004: name must be a string of 1 to 255 characters.*\n$/);
    assertRefused(error, /^nothing was imported: 2 of 20,003 rows are invalid; --skip-invalid/);
  });

  test('adds the good ones with --skip-invalid and tells both numbers', async (t) => {
    const { pets, stdout, stderr, error } = await runImport(t, 'animals.csv', mixed, { skipInvalid: true });
    assert.equal(error, null);
    assert.equal(pets.length, 20_001);
    assert.equal(pets.at(-1)?.name, 'Bo');
    assert.match(stdout, /^imported 20,001 animals from .* s, skipped 2 invalid rows\n$/);
    assert.equal(stderr.split('\n').length, 4);
  });

  test('tells the first 20 verdicts and the number of the others', async (t) => {
    const { stderr } = await runImport(t, 'animals.csv', `${header}${'Rex,x,\n'.repeat(1_234)}`);
    const lines = stderr.trimEnd().split('\n');
    assert.equal(lines.length, 21);
    assert.equal(lines[19], `line 21: categoryId ${categoryRule}`);
    assert.equal(lines[20], '… and 1214 more');
  });

  test('with --json gives one value, of at most 1,000 verdicts but the number of all', async (t) => {
    const { stdout, stderr, error } = await runImport(
      t,
      'animals.ndjson',
      `{"name":"Rex"}\n${'[]\n'.repeat(1_233)}`,
      { json: true },
    );
    const { errors, ...rest } = JSON.parse(stdout);
    assert.deepEqual(rest, { imported: 0, skipped: 0, errorsTotal: 1_234 });
    assert.equal(errors.length, 1_000);
    assert.deepEqual(errors.slice(0, 2), [
      { line: 1, field: 'categoryId', rule: 'is required' },
      { line: 2, field: null, rule: 'must be a JSON object' },
    ]);
    assert.equal(stderr, '');
    assertRefused(error, /1,234 rows are invalid/);
  });

  test('with --json and --skip-invalid counts what it added and what it skipped', async (t) => {
    const { stdout } = await runImport(t, 'animals.csv', `${header}Rex,1,\nTom,,\n`, {
      json: true,
      skipInvalid: true,
    });
    assert.deepEqual(JSON.parse(stdout), {
      imported: 1,
      skipped: 1,
      errors: [{ line: 3, field: 'categoryId', rule: categoryRule }],
      errorsTotal: 1,
    });
  });
});

test('import tells that its outcome is not known where the connection is lost as it is written', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const relay = await startRelay(t, store.url);
  const catalogue = openCatalogue(await store.open(relay.url), systemClock);
  const cut: Catalogue = {
    ...catalogue,
    load: (batches, onWrite) =>
      catalogue.load(batches, () => {
        void relay.cut();
        onWrite?.();
      }),
  };
  const options = { file: '-', format: 'csv', skipInvalid: false, json: true } as const;
  const { stdout, error } = await run((terminal) => importFile(cut, options, terminal), {
    stdin: `${header}Rex,1,\n`,
  });
  assert.deepEqual(JSON.parse(stdout), { imported: null, skipped: 0, errors: [], errorsTotal: 0 });
  assert.ok(error instanceof OutcomeUnknownError);
  assert.match(error.message, /^it is not known whether/);
});

test('import --skip-invalid of a file that cannot be read to its end skips nothing and adds nothing', async (t) => {
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
  test('is shown on standard error where that is a terminal, first the reading, then the writing', async (t) => {
    const { stdout, stderr } = await runImport(t, 'animals.csv', `${header}Rex,1,\n`, { isTTY: true });
    assert.match(stderr, /reading \[.* 0 % of 0\.0 MiB.*writing \[.* 100 %/s);
    assert.match(stdout, /^imported 1 animal/);
  });

  test('has no end where the size of the source is not known', async (t) => {
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
      importFile(catalogue, { file, skipInvalid: false, json: true }, terminal),
    );
    assert.deepEqual(JSON.parse(stdout), { imported: count, skipped: 0, errors: [], errorsTotal: 0 });
    assert.equal(stderr, '');
  }
});
