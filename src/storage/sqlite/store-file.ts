import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder, syncFolder } from '../sync-folder.ts';

/** As SQLite makes its files; the umask narrows it. */
const newFileMode = 0o644;

/** Makes the file of a store, empty, with its folder, when there is none; the entries of both are on disk then. */
export async function makeStoreFile(path: string): Promise<void> {
  await makeFolder(dirname(path));
  try {
    await (await open(path, 'wx', newFileMode)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  await syncFolder(dirname(path));
}
