import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Syncs the entries of a folder to disk. Until then a power failure may lose a new file or a new name. Does nothing
 * if that is not possible: the folder cannot be opened (as on Windows), or Node's permission model forbids fsync. Then
 * only SQLite syncs the folder of a store, when it creates the `-wal`.
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

/** Creates a folder and its missing parents, and syncs the entry of each. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  const above = dirname(resolve(first));
  for (let made = resolve(folder); made !== above && made !== dirname(made); made = dirname(made))
    await syncFolder(dirname(made));
}
