import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { OperatorError } from '../../src/errors.ts';
import { petFields } from '../../src/pets/pet.ts';
import { readPets } from '../../src/pets/pet-files.ts';
import { recordBytesMax } from '../../src/pets/read-lines.ts';
import { createEndlessBytes, readFile } from './read-file.ts';

const header = 'name,categoryId,status\n';
const rexLine = '{"name":"Rex","categoryId":1}\n';
const rex = { name: 'Rex', categoryId: 1n };
const tom = { name: 'Tom', categoryId: 2n };
const unknownField = '{"name":"Rex","categoryId":1,"Status":"sold"}\n';
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const int64s = [-(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n];

/** The content of a file, its animals, and its invalid rows: the line with the field, or with the rule of the whole row. */
type Row = [content: string | Uint8Array, pets: readonly object[], ...bad: string[]];

const describeUnknown = (names: string) =>
  `${names} not known; known fields are ${petFields.join(', ')}, id, and --ignore-unknown ignores others`;
const quotes =
  'must follow RFC 4180: enclose a field that contains a quote in quotes, and double each quote inside the field';
const notInt64 = ['', ' 1', '1.0', '1e2', '007', '+1', '0x1', '9223372036854775808', 'abc'];

const csv: Readonly<Record<string, Row>> = {
  'columns in any order': ['status,name,categoryId\nsold,Rex,1\n', [{ ...rex, status: 'sold' }]],
  'quoted commas, quotes and spaces': [`${header}" ""Rex"", the ",1,\n`, [{ ...rex, name: ' "Rex", the ' }]],
  'no column for the status': ['name,categoryId\nRex,1\n', [rex]],
  'an empty status': [`${header}Rex,1,\n`, [rex]],
  'CRLF, blank lines and no last line break': ['name,categoryId\r\n\r\nRex,1\r\n\n"Tom",2', [rex, tom]],
  'a byte order mark': ['\ufeffname,categoryId\nRex,1\n', [rex]],
  'empty columns and rows of empty values': ['name,categoryId,,\nRex,1,,\n,,,\n\n', [rex]],
  'a value in a column without a name': [
    'name,categoryId,\nRex,1,sold\nRex,1,\n',
    [rex],
    '2 must have no value in a column without a name; --ignore-unknown ignores such columns',
  ],
  'the id of an animal to change, unless it is empty': [
    'id,name,categoryId\n7,Rex,1\n,Rex,1\n',
    [{ ...rex, id: 7n, line: 2 }, rex],
  ],
  'an id that is not canonical': ['id,name,categoryId\n07,Rex,1\n', [], '2 id'],
  'any int64, exactly': [
    header + int64s.map((id) => `Rex,${id},\n`).join(''),
    int64s.map((categoryId) => ({ ...rex, categoryId })),
  ],
  'a categoryId that is not a plain decimal int64': [
    header + notInt64.map((text) => `Rex,${text},\n`).join(''),
    [],
    ...notInt64.map((_, index) => `${index + 2} categoryId`),
  ],
  'every rule that it breaks': [`${header},x,gone\n`, [], '2 name', '2 categoryId', '2 status'],
  'more or fewer fields than the header': [
    `${header}Rex,1\nRex,1,sold,x\n`,
    [],
    '2 must have 3 fields like the header, not 2',
    '3 must have 3 fields like the header, not 4',
  ],
  'the line in which it begins': [
    'name,status,categoryId\nRex,"one\r\ntwo\n\nthree",1\n\nTom,,x\nRex,,1\n',
    [rex],
    '2 status',
    '7 categoryId',
  ],
  'bytes that are not UTF-8': [latin1(`${header}Rex,1,\nR\xe9x,1,\nRex,1,\n`), [rex, rex], '3 must be UTF-8'],
  'broken quotes': [
    `${header}5" dog,1,\n"Bo"b,1,\nRex,1,\nBo"b","1",\nRex,1,\n"Tom,2,`,
    [rex, rex],
    ...[2, 3, 5, 7].map((line) => `${line} ${quotes}`),
  ],
};

const ndjson: Readonly<Record<string, Row>> = {
  'a byte order mark, CRLF, blank lines and no last newline': [
    `\ufeff${rexLine}\r\n  \n${rexLine.trim()}\r\n${rexLine.trim()}`,
    [rex, rex, rex],
  ],
  'no rows': ['', []],
  'any int64, exactly and in any JSON notation': [
    [...int64s, '1.0', '1e2'].map((literal) => `{"name":"Rex","categoryId":${literal}}\n`).join(''),
    [...int64s, 1n, 100n].map((categoryId) => ({ ...rex, categoryId })),
  ],
  'an unknown field': [unknownField, [], `1 ${describeUnknown('the field "Status" is')}`],
  'no JSON': [`${rexLine}\n{"name":\n${rexLine}`, [rex, rex], '3 must be a JSON object on one line'],
  'JSON but no object': [
    '[1]\nnull\n"Rex"\n',
    [],
    ...[1, 2, 3].map((line) => `${line} must be a JSON object`),
  ],
  'too deep a nesting': [`${'['.repeat(20_000)}\n`, [], '1 must be nested at most 128 levels deep'],
  'bytes that are not UTF-8': [latin1(`${rexLine}{"name":"R\xe9x"}\n`), [rex], '2 must be UTF-8'],
};

for (const [format, files] of Object.entries({ csv, ndjson }))
  describe(`the rows of a file as ${format}`, () => {
    for (const [what, [content, pets, ...bad]] of Object.entries(files))
      test(`are read, or refused individually, with ${what}`, async () => {
        const { pets: read, badRows } = await readFile(content, format as 'csv' | 'ndjson');
        assert.deepEqual(read, pets);
        const broken = badRows.flatMap(({ line, violations }) =>
          violations.map(({ field, rule }) => `${line} ${field ?? rule}`),
        );
        assert.deepEqual(broken, bad);
      });
  });

describe('the rows of a file', () => {
  test('may have unknown columns and fields only if they are to be ignored', async () => {
    const content = 'age,name,Status,categoryId\n7,Rex,sold,1\n';
    const names = 'the columns "age", "Status" are';
    const message = `line 1: ${describeUnknown(names).replace('fields', 'columns')}`;
    await assert.rejects(readFile(content, 'csv'), { name: 'OperatorError', message });
    assert.deepEqual((await readFile(content, 'csv', true)).pets, [rex]);
    assert.deepEqual((await readFile('name,categoryId,\nRex,1,sold\n', 'csv', true)).pets, [rex]);
    assert.equal((await readFile(unknownField, 'ndjson', true)).pets.length, 1);
  });

  for (const [format, content] of [
    ['csv', `\ufeff${header}"Žofka, ""the\r\n"" cat",1,\n猫,2,sold\r\n5" dog,3,\n\n`],
    ['ndjson', `${rexLine}{"name":"Žofka 猫 🐈","categoryId":2}\r\n{}\n`],
  ] as const)
    test(`are read correctly as ${format} with any split of the bytes into chunks`, async () => {
      const whole = await readFile(content, format);
      assert.equal(whole.pets.length + whole.badRows.length, 3);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 90 }), async (chunkBytes) => {
          assert.deepEqual(await readFile(content, format, false, chunkBytes), whole);
        }),
      );
    });
});

const tooLong = 'x'.repeat(recordBytesMax + 1);
const half = 'ë'.repeat(recordBytesMax / 4 + 1);
const noColumn = (name: string) => new RegExp(`^line 1: the header must have a column "${name}"`);
const unreadable: Readonly<Record<string, readonly [content: string | Uint8Array, message: RegExp]>> = {
  'it is empty': ['\n', /empty/],
  'it has no header': ['Rex,1,sold\n', noColumn('name')],
  'a required column is missing': ['name,status\nRex,sold\n', noColumn('categoryId')],
  'its separators are semicolons': ['name;categoryId\nRex;1\n', /by semicolons; they must be .* by commas/],
  'its separators are tabs': ['name\tcategoryId\nRex\t1\n', /by tabs; they must be separated by commas/],
  'its lines end with carriage returns': ['name,categoryId\rRex,1\r', /carriage return alone; they must/],
  'a column occurs twice': ['\nname,categoryId,name\n', /^line 2: the header has the column "name" 2 times/],
  'its header is not UTF-8': [latin1('name,categoryId,\xe9\n'), /^line 1: the header must be UTF-8/],
  'a broken quote extends over later rows': [
    `${header}Rex,1,\n"Tom,2,\n"Bo",3,\n`,
    /^line 3: .* the start of the next row cannot be found/,
  ],
  'a quote is never closed': [`${header}"Tom,2,\nRex,1,\n`, /^line 2: /],
  'a line is too long': [`${header}Rex,1,\n${tooLong}\nRex,1,\n`, /^line 3: .* more than 65536/],
  'a record is too long in UTF-8': [`${header}"${half}\n${half}",1,\n`, /^line 2: .* more than 65536/],
};

describe('a CSV file is refused as a whole', () => {
  for (const [what, [content, message]] of Object.entries(unreadable))
    test(`if ${what}`, () => assert.rejects(readFile(content, 'csv'), { name: 'OperatorError', message }));

  test('if a line or a quote is endless, before much of it is read', async () => {
    for (const chunk of [Buffer.alloc(1024), Buffer.from(`${header}"${'x\n'.repeat(500)}`)]) {
      const { bytes, readBytes } = createEndlessBytes(chunk);
      await assert.rejects(() => Array.fromAsync(readPets(bytes, 'csv', () => undefined)), OperatorError);
      assert.ok(readBytes() < 3 * recordBytesMax);
    }
  });
});
