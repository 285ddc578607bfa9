import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writePythonTypes } from '../client-python/python-types.ts';
import { startApp } from '../src/app.ts';
import { systemClock } from '../src/clock.ts';
import { parseConfig } from '../src/config.ts';
import { createLog } from '../src/observability/log.ts';
import type { Description } from './description.ts';
import { writeTypes } from './description-types.ts';

/**
 * Starts the service with an empty store, reads its OpenAPI description and writes the types of the two clients:
 * `src/generated.ts` and `client-python/animal_store/generated.py`.
 */
async function generate(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const config = parseConfig({
    PORT: '0',
    OPS_PORT: '0',
    ENVIRONMENT: 'staging',
    DATABASE_URL: `sqlite:${join(folder, 'animal-store.db')}`,
  });
  const app = await startApp(config, systemClock, createLog('silent', process.stderr));
  try {
    const description = (await (await fetch(`${app.url}/openapi.json`)).json()) as Description;
    await writeFile(join(import.meta.dirname, 'src/generated.ts'), writeTypes(description));
    const python = join(import.meta.dirname, '../client-python/animal_store/generated.py');
    await writeFile(python, writePythonTypes(description));
  } finally {
    await app.close();
    await rm(folder, { recursive: true });
  }
}

await generate();
