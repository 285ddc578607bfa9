import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { add, amplePlan, ask, readJson, startInstances } from '../support/instances.ts';
import { runProgram } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

const postgres = await findPostgres();
const { skip } = postgres;

/** More rows than one transaction moves into the feed. */
const importedRows = 6_000;
const clients = 4;

interface Event {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: number; readonly name: string };
}

test('an import beside concurrent adds gives each animal exactly one event, and a follower meets each once', {
  skip,
}, async (t) => {
  const instances = await startInstances(t, { postgres, redisUrl: '', count: 2 });
  const { key } = await instances.createKey(...amplePlan);
  const file = join(await makeFolder(t), 'animals.csv');
  await writeFile(file, `name,categoryId\n${'imported,1\n'.repeat(importedRows)}`);
  let isImporting = true;
  let isOver = false;

  async function addDuringImport(): Promise<number> {
    for (let count = 0; ; count += 1) {
      assert.equal((await add(instances.next(), key, 'added')).status, 201);
      if (!isImporting) return count + 1;
    }
  }

  /** Returns a page of events and the address of the next one. */
  async function readPage(path: string): Promise<{ events: Event[]; next: string }> {
    const response = await ask(instances.next(), key, path);
    const [, next = assert.fail()] =
      /^<\/v1(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
    return { events: await readJson(response), next };
  }

  /** Reads events until nothing is added any more and all events have positions. */
  async function follow(start: string): Promise<Event[]> {
    const met: Event[] = [];
    for (let path = start; ; ) {
      const isComplete =
        isOver && (await instances.store.execute('select id from event_outbox limit 1')).length === 0;
      const { events, next } = await readPage(path);
      if (isComplete && events.length === 0) return met;
      met.push(...events);
      path = next;
    }
  }

  const following = follow('/events?limit=100&wait=1');
  const adding = Promise.all(Array.from({ length: clients }, addDuringImport));
  const { code, stdout, stderr } = await runProgram(['import', file, '--json'], {
    settings: { ENVIRONMENT: 'production', DATABASE_URL: instances.store.url },
  });
  isImporting = false;
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).imported, importedRows);
  const added = (await adding).reduce((sum, count) => sum + count);
  isOver = true;
  const met = await following;

  const pets = (await instances.store.execute('select id::int as id, name from pets order by id')) as {
    id: number;
    name: string;
  }[];
  assert.equal(pets.length, importedRows + added);
  assert.deepEqual(
    met.map(({ data: { id, name } }) => ({ id, name })).sort((a, b) => a.id - b.id),
    pets,
  );
  assert.deepEqual(new Set(met.map(({ type }) => type)), new Set(['pet.added']));
  // The feed has these events in the order in which the follower met them, and no others.
  assert.deepEqual(
    (await follow('/events?limit=100')).map(({ id }) => id),
    met.map(({ id }) => id),
  );
});
