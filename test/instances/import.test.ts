import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beginMirror } from '../../torture/mirror.ts';
import { createRandom } from '../../torture/random.ts';
import { startServices } from '../../torture/services.ts';
import { createStore } from '../../torture/store.ts';
import { findPostgres } from '../support/engines.ts';
import { testsUnless } from '../support/programs.ts';
import { makeFolder } from '../support/service.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);

/** More rows than one transaction moves into the feed. */
const importedRows = 6_000;
const clients = 4;

test('an import beside concurrent adds gives each animal one event, which a follower meets once', async (t) => {
  const { url, execute } = await postgres.createStore(t);
  const store = createStore(t, url, {}, execute);
  const services = await startServices(t, createRandom(1), store, 2);
  const mirror = await beginMirror(services);
  const file = join(await makeFolder(t), 'animals.csv');
  await writeFile(file, `name,categoryId\n${'imported,1\n'.repeat(importedRows)}`);
  let isImporting = true;

  async function addDuringImport(): Promise<number> {
    const body = '{"name":"added","categoryId":1}';
    for (let count = 0; ; count += 1) {
      assert.equal((await services.ask('/pets', { method: 'POST', body }))?.status, 201);
      if (!isImporting) return count + 1;
    }
  }

  const adding = Promise.all(Array.from({ length: clients }, addDuringImport));
  const { code, stdout, stderr } = await store.run('import', file, '--json');
  isImporting = false;
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).imported, importedRows);
  const added = (await adding).reduce((sum, count) => sum + count);
  await mirror.end();
  assert.equal(mirror.met.length, importedRows + added);
  assert.deepEqual(await execute('select distinct type from events'), [{ type: 'pet.added' }]);
});
