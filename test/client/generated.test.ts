import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Description } from '../../client/description.ts';
import { writeTypes } from '../../client/description-types.ts';
import manifest from '../../client/package.json' with { type: 'json' };
import { version } from '../../client/src/settings.ts';
import { writePythonTypes } from '../../client-python/python-types.ts';
import { startService } from '../support/service.ts';

const client = join(import.meta.dirname, '../../client');

test('the types of the client match the description of the service', async (t) => {
  const { app } = await startService(t);
  const description = (await (await fetch(`${app.url}/openapi.json`)).json()) as Description;
  const kept = await readFile(join(client, 'src/generated.ts'), 'utf8');
  assert.equal(kept, writeTypes(description), 'run "npm run generate" in client/');
});

test('the types of the Python client match the description of the service', async (t) => {
  const { app } = await startService(t);
  const description = (await (await fetch(`${app.url}/openapi.json`)).json()) as Description;
  const kept = await readFile(join(client, '../client-python/animal_store/generated.py'), 'utf8');
  assert.equal(kept, writePythonTypes(description), 'run "npm run generate" in client/');
});

for (const write of [writeTypes, writePythonTypes])
  test(`${write.name} fails if the description has an unknown type`, () => {
    const schemas = { Pet: { type: 'object', properties: { tags: { type: 'array' } } } };
    assert.throws(() => write({ paths: {}, components: { schemas } }), /no type is known for/);
  });

test('the client sends the version of its package', () => {
  assert.equal(version, manifest.version);
});
