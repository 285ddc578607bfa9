import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');

async function findWorks(): Promise<{ module: string; name: string }[]> {
  const folders = ['src', 'test'].map(async (folder) => {
    const entries = await readdir(join(root, folder), { recursive: true });
    return entries.filter((file) => file.endsWith('.ts')).map((file) => join(root, folder, file));
  });
  const files = (await Promise.all(folders)).flat();
  const works = files.map(async (file) => {
    const text = await readFile(file, 'utf8');
    const names = [...text.matchAll(/defineWork\(\s*import\.meta\.url,\s*'(\w+)'/g)];
    return names.map(([, name = '']) => ({ module: pathToFileURL(file).href, name }));
  });
  return (await Promise.all(works)).flat();
}

test('every named transaction is exported by its module under its name', async () => {
  const works = await findWorks();
  assert.ok(works.length > 10);
  for (const { module, name } of works) {
    const exported = (await import(module))[name];
    assert.deepEqual([exported?.module, exported?.name], [module, name]);
  }
});
