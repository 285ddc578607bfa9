import { join } from 'node:path';
import { startServer } from './processes.ts';
import { copyStore, type SeededStore } from './store.ts';
import { service, withKey } from './subjects.ts';

/** Runs the service on a copy of a store for as long as a task takes, and gives the task's result. */
export async function withService<T>(
  folder: string,
  store: SeededStore,
  task: (origin: string) => Promise<T>,
): Promise<T> {
  const ground = { folder, store, storeFile: copyStore(store, folder, 'aside'), recordedFile: '' };
  const server = await startServer(
    (port) => service.build(port, ground),
    { method: 'GET', path: '/v1/pets' },
    withKey(store),
    join(folder, 'aside.log'),
  );
  try {
    return await task(server.origin);
  } finally {
    await server.stop();
  }
}
