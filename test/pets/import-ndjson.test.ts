import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readFile } from './read-file.ts';

const rex = { name: 'Rex', categoryId: 1n };
const rexLine = '{"name":"Rex","categoryId":1}\n';

async function findRules(content: string | Uint8Array) {
  const { badRows } = await readFile(content, 'ndjson');
  return badRows.map(({ line, violations: [violation] }) => [line, violation?.field, violation?.rule]);
}

describe('the rows of an NDJSON file', () => {
  test('are read with a byte order mark, CRLF, blank lines and no last newline', async () => {
    const { pets } = await readFile(
      `\ufeff${rexLine}\r\n  \n${rexLine.trim()}\r\n${rexLine.trim()}`,
      'ndjson',
    );
    assert.deepEqual(pets, [rex, rex, rex]);
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

  test('are refused if they have an unknown field, which the message names, unless it is to be ignored', async () => {
    const line = '{"name":"Rex","categoryId":1,"Status":"sold"}\n';
    assert.deepEqual(await findRules(line), [
      [
        1,
        null,
        'the field "Status" is not known; known fields are name, categoryId, status, id, and --ignore-unknown ignores others',
      ],
    ]);
    assert.equal((await readFile(line, 'ndjson', true)).pets.length, 1);
  });

  test('are refused individually with their line number if they are not JSON', async () => {
    assert.deepEqual(await findRules(`${rexLine}\n{"name":\n${rexLine}`), [
      [3, null, 'must be a JSON object on one line'],
    ]);
  });

  test('are refused if they are JSON but not an object', async () => {
    assert.deepEqual(await findRules('[1]\nnull\n"Rex"\n'), [
      [1, null, 'must be a JSON object'],
      [2, null, 'must be a JSON object'],
      [3, null, 'must be a JSON object'],
    ]);
  });

  test('are refused if they are nested too deeply', async () => {
    assert.deepEqual(await findRules(`${'['.repeat(20_000)}\n`), [
      [1, null, 'must be nested at most 128 levels deep'],
    ]);
  });

  test('are refused individually if they are not UTF-8', async () => {
    const content = Buffer.from(`${rexLine}{"name":"R\xe9x","categoryId":1}\n`, 'latin1');
    assert.deepEqual(await findRules(content), [[2, null, 'must be UTF-8']]);
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

test('an NDJSON file without rows has no animals', async () => {
  assert.deepEqual(await readFile('', 'ndjson'), { pets: [], badRows: [] });
});
