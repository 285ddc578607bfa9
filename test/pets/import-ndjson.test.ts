import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readFile } from './read-file.ts';

const rex = { name: 'Rex', categoryId: 1n };
const rexLine = '{"name":"Rex","categoryId":1}\n';
const unknown =
  'the field "Status" is not known; known fields are name, categoryId, status, id, and --ignore-unknown ignores others';
const notObject = 'must be a JSON object';

/** Files, each with the lines of its invalid rows and the rules that they break. */
const refused: readonly (readonly [what: string, content: string | Buffer, ...rules: [number, string][]])[] =
  [
    ['have an unknown field', '{"name":"Rex","categoryId":1,"Status":"sold"}\n', [1, unknown]],
    ['are not JSON', `${rexLine}\n{"name":\n${rexLine}`, [3, 'must be a JSON object on one line']],
    ['are JSON but no object', '[1]\nnull\n"Rex"\n', [1, notObject], [2, notObject], [3, notObject]],
    ['are nested too deeply', `${'['.repeat(20_000)}\n`, [1, 'must be nested at most 128 levels deep']],
    ['are not UTF-8', Buffer.from(`${rexLine}{"name":"R\xe9x"}\n`, 'latin1'), [2, 'must be UTF-8']],
  ];

describe('the rows of an NDJSON file', () => {
  test('are read with a byte order mark, CRLF, blank lines and no last newline', async () => {
    const row = rexLine.trim();
    const { pets } = await readFile(`\ufeff${rexLine}\r\n  \n${row}\r\n${row}`, 'ndjson');
    assert.deepEqual(pets, [rex, rex, rex]);
    assert.deepEqual(await readFile('', 'ndjson'), { pets: [], badRows: [] });
  });

  test('keep any int64 exactly in any JSON notation', async () => {
    const literals = ['-9223372036854775808', '9223372036854775807', '9007199254740993', '1.0', '1e2'];
    const content = literals.map((literal) => `{"name":"Rex","categoryId":${literal}}\n`).join('');
    const { pets } = await readFile(content, 'ndjson');
    assert.deepEqual(
      pets.map(({ categoryId }) => categoryId),
      [-(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n, 1n, 100n],
    );
  });

  for (const [what, content, ...rules] of refused)
    test(`are refused individually with their line number if they ${what}`, async () => {
      const { badRows } = await readFile(content, 'ndjson');
      assert.deepEqual(
        badRows,
        rules.map(([line, rule]) => ({ line, violations: [{ field: null, rule }] })),
      );
    });

  test('may have an unknown field if it is to be ignored', async () => {
    const { pets } = await readFile('{"name":"Rex","categoryId":1,"Status":"sold"}\n', 'ndjson', true);
    assert.equal(pets.length, 1);
  });

  test('are read correctly with any split of the bytes into chunks', async () => {
    const content = `${rexLine}{"name":"Žofka 猫 🐈","categoryId":2}\r\n{}\n`;
    const whole = await readFile(content, 'ndjson');
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 90 }), async (chunkBytes) => {
        assert.deepEqual(await readFile(content, 'ndjson', false, chunkBytes), whole);
      }),
    );
  });
});
