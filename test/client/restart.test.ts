import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { AnimalStore } from '../../client/src/index.ts';
import { runProgram, serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

/** The number of retries is large enough for a slow start on a busy machine. */
const maxRetries = 40;

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`listAll and creates continue after the service ends by ${signal} and starts again`, async (t) => {
    const folder = await makeFolder(t);
    const settings = { ENVIRONMENT: 'staging', DATABASE_URL: `sqlite:${join(folder, 'animal-store.db')}` };
    await runProgram(['migrate'], { settings });
    const made = await runProgram(['keys', 'create', '--plan', 'business', '--json'], { settings });
    const { key: apiKey } = JSON.parse(made.stdout);
    let service = await serveInProcess(t, { settings });
    const { port } = new URL(service.url);
    let isDown = false;
    const client = new AnimalStore({
      apiKey,
      baseUrl: service.url,
      maxRetries,
      onRetry: async () => {
        if (!isDown) return;
        isDown = false;
        service = await serveInProcess(t, { settings: { ...settings, PORT: port } });
      },
    });
    async function restart(): Promise<void> {
      await service.end(signal);
      isDown = true;
    }

    for (let n = 1; n <= 6; n += 1) {
      if (n === 4) await restart();
      await client.pets.create({ name: `n${n}`, categoryId: n });
    }
    const names: string[] = [];
    for await (const { name } of client.pets.listAll({ limit: 2 }))
      if (names.push(name) === 2) await restart();
    assert.deepEqual(names, ['n6', 'n5', 'n4', 'n3', 'n2', 'n1']);
  });
