import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { test } from 'node:test';
import measureWidth from 'string-width';
import { type Column, writeColumns } from '../../src/cli/output.ts';

const nameAndPlan: readonly Column<string>[] = [
  { heading: 'NAME', cell: (name) => name },
  { heading: 'PLAN', cell: () => 'pro' },
];

async function write<Row>(columns: readonly Column<Row>[], rows: readonly Row[], terminal = {}) {
  const stdout = Object.assign(new PassThrough(), terminal);
  writeColumns({ stdout }, columns, rows);
  stdout.end();
  return (await readAll(stdout)).trimEnd().split('\n');
}

test('the columns of a table are aligned with names of any script', async () => {
  const names = ['Zoo', '動物園', '🐕 & 🐈', 'E\u0301lodie', '동물원', 'ＡＢ', 'ｱｲ', '❤️'];
  const [, ...lines] = await write(nameAndPlan, names);
  const starts = lines.map((line) => measureWidth(line.slice(0, line.indexOf('pro'))));
  assert.deepEqual(new Set(starts), new Set([9]));
});

test('a table may have 300,000 rows, more than a function call may have arguments', async () => {
  const rows = Array.from({ length: 300_000 }, (_, index) => `as_${index}`);
  assert.equal((await write(nameAndPlan, rows)).length, 300_001);
});

test('a table omits columns until it fits 80 characters or a wider terminal', async () => {
  const filled = (width: number) => () => 'x'.repeat(width);
  const table = [
    { heading: 'ID', cell: filled(20) },
    { heading: 'NAME', cell: filled(50), leavesAt: 1 },
    { heading: 'STATE', cell: filled(20) },
    { heading: 'NOTE', cell: filled(30), leavesAt: 2 },
  ];
  const listHeadings = async (terminal: object) => (await write(table, ['row'], terminal))[0]?.split(/ +/);
  assert.deepEqual(await listHeadings({}), ['ID', 'STATE']);
  assert.deepEqual(await listHeadings({ columns: 60 }), ['ID', 'STATE']);
  assert.deepEqual(await listHeadings({ columns: 100 }), ['ID', 'NAME', 'STATE']);
  assert.deepEqual(await listHeadings({ columns: 200 }), ['ID', 'NAME', 'STATE', 'NOTE']);
});
