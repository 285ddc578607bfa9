import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder, syncFolder } from '../sync-folder.ts';

/** A store has secrets, so only its owner may read it. SQLite gives its own files beside the store the same mode. */
const newFileMode = 0o600;

/**
 * Creates an empty file for a store, and its folder, if they do not exist. Syncs the directory entries of both to
 * disk. The umask restricts `mode` further.
 */
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
