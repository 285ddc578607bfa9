import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { test } from 'node:test';
import { writeTable } from '../../src/cli/output.ts';
import { measureWidth } from '../../src/cli/text-width.ts';

const widths: readonly (readonly [text: string, columns: number])[] = [
  ['', 0],
  ['Zoo', 3],
  ['Élodie', 6],
  ['E\u0301lodie', 6],
  ['動物園', 6],
  ['ひらがな', 8],
  ['동물원', 6],
  ['ＡＢ', 4],
  ['ｱｲ', 2],
  ['🐕', 2],
  ['👩‍🚀', 2],
  ['🇩🇪', 2],
  ['❤️', 2],
  ['Ζωολογικός', 10],
];

for (const [text, columns] of widths)
  test(`"${text}" takes ${columns} columns`, () => {
    assert.equal(measureWidth(text), columns);
  });

test('the columns of a table stand below each other, whatever the names in it', async () => {
  const stdout = new PassThrough();
  const names = ['Zoo', '動物園', '🐕 & 🐈', 'E\u0301lodie'];
  writeTable(
    { stdin: stdout, stdout, stderr: stdout },
    ['ACCOUNT', 'PLAN'],
    names.map((name) => [name, 'pro']),
  );
  stdout.end();
  const starts = (await readAll(stdout))
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => measureWidth(line.slice(0, line.indexOf('pro'))));
  assert.deepEqual(starts, [9, 9, 9, 9]);
});

test('a table may have more rows than a call has room for arguments', async () => {
  const stdout = new PassThrough();
  const rows = Array.from({ length: 300_000 }, (_, index) => [`as_${index}`, 'pro']);
  writeTable({ stdin: stdout, stdout, stderr: stdout }, ['KEY', 'PLAN'], rows);
  stdout.end();
  assert.equal((await readAll(stdout)).trimEnd().split('\n').length, 300_001);
});
