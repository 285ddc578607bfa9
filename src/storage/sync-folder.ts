import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Calls fsync on a folder. Without it, a power failure may lose a new or renamed file.
 *
 * Does nothing if the folder cannot be opened (on Windows) or Node's permission model forbids fsync. In these cases
 * only SQLite syncs the folder of a store, when SQLite creates the `-wal`.
 */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null);
  try {
    await handle?.sync();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED') throw error;
  } finally {
    await handle?.close();
  }
}

/** Creates a folder and its missing parents, and syncs the parent of each new folder. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  const above = dirname(resolve(first));
  for (let made = resolve(folder); made !== above && made !== dirname(made); made = dirname(made))
    await syncFolder(dirname(made));
}
