import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { transactions } from '../../src/transactions.ts';

const source = join(import.meta.dirname, '../../src');

test('src/transactions.ts lists every transaction of the source, and each name once', async () => {
  const entries = await readdir(source, { recursive: true });
  const texts = entries
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFile(join(source, file), 'utf8'));
  const names = (await Promise.all(texts)).flatMap((text) =>
    [...text.matchAll(/= define(?:Transaction|Change)\(\s*'(\w+)'/g)].map(([, name = '']) => name),
  );
  assert.ok(names.length > 10);
  assert.deepEqual(transactions.map(({ name }) => name).sort(), names.sort());
});
