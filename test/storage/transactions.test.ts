import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

const source = join(import.meta.dirname, '../../src');
const declaration = / = (?:transaction|writesEach)\b/;

test('the writing thread imports every module that declares a transaction', async () => {
  const declaring: string[] = [];
  for (const file of await readdir(source, { recursive: true }))
    if (file.endsWith('.ts') && declaration.test(await readFile(join(source, file), 'utf8')))
      declaring.push(file);
  const entry = await readFile(join(source, 'writing-thread.ts'), 'utf8');
  const imported = [...entry.matchAll(/^import '.\/(.*)';$/gm)].map(([, file]) => file);
  assert.ok(declaring.length > 10);
  assert.deepEqual(imported.sort(), declaring.sort());
});
