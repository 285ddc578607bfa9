import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Calls fsync on a folder. Without it, a power failure may lose a new or renamed file. Does nothing if the folder
 * cannot be opened (on Windows) or Node's permission model forbids fsync.
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

/** A store has secrets, so only its owner may read it. SQLite gives its own files beside the store the same mode. */
const newFileMode = 0o600;

/** Creates an empty file for a store, and its folder, if they do not exist, and syncs their directory entries. */
export async function makeStoreFile(path: string, mode = newFileMode): Promise<void> {
  await makeFolder(dirname(path));
  try {
    await (await open(path, 'wx', mode)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Creates a folder and its missing parents, and syncs the parent of each new folder. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  const above = dirname(resolve(first));
  for (let made = resolve(folder); made !== above && made !== dirname(made); made = dirname(made))
    await syncFolder(dirname(made));
}
