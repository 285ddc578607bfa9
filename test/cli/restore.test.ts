import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram, serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

interface Pet {
  readonly id: number;
  readonly name: string;
}

async function addPet(url: string, key: string, name: string): Promise<Pet> {
  const answer = await fetch(`${url}/pets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, categoryId: 1 }),
  });
  assert.equal(answer.status, 201);
  return (await answer.json()) as Pet;
}

/** Adds animals with eight writers until `stop`. `answered` has every animal whose add was answered. */
function addContinually(url: string, key: string) {
  const answered: Pet[] = [];
  let isOver = false;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    while (!isOver) answered.push(await addPet(url, key, `writer ${writer}, after ${answered.length}`));
  });
  return {
    answered,
    async stop() {
      isOver = true;
      await Promise.all(writers);
    },
  };
}

test('a service starts on a backup made during writes, and has every add that was answered before the backup', async (t) => {
  const folder = await makeFolder(t);
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'store.db')}`, ENVIRONMENT: 'staging' };
  const service = await serveInProcess(t, { settings });
  const create = 'keys create --plan enterprise --per-minute 1000000 --per-day 1000000 --json';
  const { key } = JSON.parse((await runProgram(create.split(' '), { settings })).stdout);

  const writing = addContinually(service.url, key);
  while (writing.answered.length < 500) await new Promise(setImmediate);
  const before = [...writing.answered];
  const backup = join(folder, 'backup.db');
  const { code, stderr } = await runProgram(['backup', backup], { settings });
  assert.deepEqual([code, stderr], [0, '']);
  const during = writing.answered.length - before.length;
  await writing.stop();
  await service.end('SIGKILL');
  assert.ok(during > 0, 'the service continued to write');

  const restored = join(folder, 'restored.db');
  await rename(backup, restored);
  const second = await serveInProcess(t, { settings: { ...settings, DATABASE_URL: `sqlite:${restored}` } });
  for (const pet of before) {
    const answer = await fetch(`${second.url}/pets/${pet.id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.deepEqual(await answer.json(), pet);
  }
  const added = await addPet(second.url, key, 'after the restore');
  assert.ok(added.id > Math.max(...before.map(({ id }) => id)));
  assert.equal((await second.end('SIGTERM')).code, 0);
});
