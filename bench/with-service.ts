import { join } from 'node:path';
import { startServer } from './processes.ts';
import { hotPage } from './scenarios.ts';
import { copyStore, type SeededStore } from './store.ts';
import { service, withKey } from './subjects.ts';

/** Runs a task while the service serves a copy of a store. Returns the result of the task. */
export async function withService<T>(
  folder: string,
  store: SeededStore,
  task: (origin: string) => Promise<T>,
): Promise<T> {
  const storeFile = copyStore(store, folder, 'aside');
  const ground = { folder, store, storeFile, recordedFile: '', settings: {} };
  const server = await startServer(
    (port) => service.build(port, ground),
    hotPage,
    withKey(store),
    join(folder, 'aside.log'),
  );
  try {
    return await task(server.origin);
  } finally {
    await server.stop();
  }
}
