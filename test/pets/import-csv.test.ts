import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { OperatorError } from '../../src/errors.ts';
import { readPets } from '../../src/pets/pet-files.ts';
import { recordBytesMax } from '../../src/pets/read-lines.ts';
import { createEndlessBytes, readFile } from './read-file.ts';

const header = 'name,categoryId,status\n';
const rex = { name: 'Rex', categoryId: 1n };

const tom = { name: 'Tom', categoryId: 2n };
const readable: readonly (readonly [what: string, content: string, pets: readonly object[]])[] = [
  ['the columns in any order', 'status,name,categoryId\nsold,Rex,1\n', [{ ...rex, status: 'sold' }]],
  ['quoted commas, quotes and spaces', `${header}" ""Rex"", the ",1,\n`, [{ ...rex, name: ' "Rex", the ' }]],
  ['no column for the status', 'name,categoryId\nRex,1\n', [rex]],
  ['an empty status', `${header}Rex,1,\n`, [rex]],
  ['CRLF, blank lines and no last line break', 'name,categoryId\r\n\r\nRex,1\r\n\n"Tom",2', [rex, tom]],
  ['a byte order mark', '\ufeffname,categoryId\nRex,1\n', [rex]],
  ['empty columns and rows of empty values', 'name,categoryId,,\nRex,1,,\n,,,\n\n', [rex]],
];

describe('the rows of a CSV file', () => {
  for (const [what, content, pets] of readable)
    test(`may have ${what}`, async () =>
      assert.deepEqual(await readFile(content, 'csv'), { pets, badRows: [] }));

  test('may have unknown columns only if they are to be ignored', async () => {
    const content = 'age,name,Status,categoryId\n7,Rex,sold,1\n';
    const message =
      'line 1: the columns "age", "Status" are not known; known columns are name, categoryId, status, id, and --ignore-unknown ignores others';
    await assert.rejects(readFile(content, 'csv'), { name: 'OperatorError', message });
    assert.deepEqual((await readFile(content, 'csv', true)).pets, [rex]);
  });

  test('have the id of an animal to change, unless the id is empty', async () => {
    const { pets } = await readFile('id,name,categoryId\n7,Rex,1\n,Rex,1\n', 'csv');
    assert.deepEqual(pets, [{ ...rex, id: 7n, line: 2 }, rex]);
    const { badRows } = await readFile('id,name,categoryId\n07,Rex,1\n', 'csv');
    assert.equal(badRows[0]?.violations[0]?.field, 'id');
  });

  test('keep any int64 exactly', async () => {
    const { pets } = await readFile(
      `${header}a,-9223372036854775808,\nb,9223372036854775807,\nc,9007199254740993,\n`,
      'csv',
    );
    assert.deepEqual(
      pets.map(({ categoryId }) => categoryId),
      [-(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n],
    );
  });

  test('are refused if categoryId is not a plain decimal int64', async () => {
    const texts = ['', ' 1', '1.0', '1e2', '007', '+1', '0x1', '9223372036854775808', 'abc'];
    const { badRows } = await readFile(header + texts.map((text) => `Rex,${text},\n`).join(''), 'csv');
    assert.deepEqual(
      badRows.map(({ line, violations: [violation] }) => [line, violation?.field]),
      texts.map((_, index) => [index + 2, 'categoryId']),
    );
  });

  test('are reported with every rule that they break', async () => {
    const { badRows } = await readFile(`${header},x,gone\n`, 'csv');
    assert.deepEqual(
      badRows[0]?.violations.map(({ field }) => field),
      ['name', 'categoryId', 'status'],
    );
  });

  test('are refused if they have more or fewer fields than the header', async () => {
    const { badRows } = await readFile(`${header}Rex,1\nRex,1,sold,x\n`, 'csv');
    assert.deepEqual(badRows, [
      { line: 2, violations: [{ field: null, rule: 'must have 3 fields like the header, not 2' }] },
      { line: 3, violations: [{ field: null, rule: 'must have 3 fields like the header, not 4' }] },
    ]);
  });

  test('are reported with the line in which they begin', async () => {
    const status = '"one\r\ntwo\n\nthree"';
    const { badRows } = await readFile(`name,status,categoryId\nRex,${status},1\n\nTom,,x\nRex,,1\n`, 'csv');
    assert.deepEqual(
      badRows.map(({ line }) => line),
      [2, 7],
    );
  });

  test('are refused individually if they are not UTF-8', async () => {
    const content = Buffer.from(`${header}Rex,1,\nR\xe9x,1,\nRex,1,\n`, 'latin1');
    const { pets, badRows } = await readFile(content, 'csv');
    assert.deepEqual(pets, [rex, rex]);
    assert.deepEqual(badRows, [{ line: 3, violations: [{ field: null, rule: 'must be UTF-8' }] }]);
  });

  test('are refused individually if their quotes are broken', async () => {
    const { pets, badRows } = await readFile(
      `${header}5" dog,1,\n"Bo"b,1,\nRex,1,\nBo"b","1",\nRex,1,\n"Tom,2,`,
      'csv',
    );
    assert.deepEqual(pets, [rex, rex]);
    assert.deepEqual(
      badRows.map(({ line }) => line),
      [2, 3, 5, 7],
    );
    assert.match(badRows[0]?.violations[0]?.rule ?? '', /RFC 4180/);
  });

  test('are read correctly with any split of the bytes into chunks', async () => {
    const content = `\ufeff${header}"Žofka, ""the\r\n"" cat",1,\n猫,2,sold\r\n5" dog,3,\n\n`;
    const whole = await readFile(content, 'csv');
    assert.equal(whole.pets.length + whole.badRows.length, 3);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 80 }), async (chunkBytes) => {
        assert.deepEqual(await readFile(content, 'csv', false, chunkBytes), whole);
      }),
    );
  });
});

const half = 'ë'.repeat(recordBytesMax / 4 + 1);
const unreadable: readonly (readonly [what: string, content: string | Uint8Array, message: RegExp])[] = [
  ['it is empty', '\n', /empty/],
  ['it has no header', 'Rex,1,sold\n', /^line 1: the header must have a column "name"/],
  [
    'a required column is missing',
    'name,status\nRex,sold\n',
    /^line 1: the header must have a column "categoryId"/,
  ],
  [
    'its columns are separated by semicolons',
    'name;categoryId\nRex;1\n',
    /by semicolons; they must be .* by commas/,
  ],
  [
    'its columns are separated by tabs',
    'name\tcategoryId\nRex\t1\n',
    /by tabs; they must be separated by commas/,
  ],
  [
    'its lines end with a carriage return alone',
    'name,categoryId\rRex,1\r',
    /carriage return alone; they must/,
  ],
  ['a column occurs twice', '\nname,categoryId,name\n', /^line 2: the header has the column "name" 2 times/],
  [
    'its header is not UTF-8',
    Buffer.from('name,categoryId,\xe9\n', 'latin1'),
    /^line 1: the header must be UTF-8/,
  ],
  [
    'a broken quote extends over later rows',
    `${header}Rex,1,\n"Tom,2,\n"Bo",3,\n`,
    /^line 3: .* the start of the next row cannot be found/,
  ],
  ['a quote is never closed', `${header}"Tom,2,\nRex,1,\n`, /^line 2: /],
  [
    'a line is too long',
    `${header}Rex,1,\n${'x'.repeat(recordBytesMax + 1)}\nRex,1,\n`,
    /^line 3: .* more than 65536/,
  ],
  [
    'the lines of a record together are too long in UTF-8',
    `${header}"${half}\n${half}",1,\n`,
    /^line 2: .* more than 65536/,
  ],
];

describe('a CSV file is refused as a whole', () => {
  for (const [what, content, message] of unreadable)
    test(`if ${what}`, () => assert.rejects(readFile(content, 'csv'), { name: 'OperatorError', message }));

  test('if a line or a quote is endless, before much of it is read', async () => {
    for (const chunk of [Buffer.alloc(1024), Buffer.from(`${header}"${'x\n'.repeat(500)}`)]) {
      const { bytes, readBytes } = createEndlessBytes(chunk);
      await assert.rejects(() => Array.fromAsync(readPets(bytes, 'csv', () => undefined)), OperatorError);
      assert.ok(readBytes() < 3 * recordBytesMax);
    }
  });
});
