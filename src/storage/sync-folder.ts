import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Syncs the entries of a folder to disk: a new file, or a new name, may be lost in a power failure until then. Does
 * nothing where it may not: a folder that cannot be opened (as on Windows), or Node's permission model, which has no
 * fsync. There SQLite alone syncs the folder of a store, when it makes the `-wal`.
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

/** Makes a folder and those above it that are missing, and syncs the entry of each. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  const above = dirname(resolve(first));
  for (let made = resolve(folder); made !== above && made !== dirname(made); made = dirname(made))
    await syncFolder(dirname(made));
}
