import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Syncs the entries of a folder to disk: a new file, or a new name, may be lost in a power failure until then. Does
 * nothing for a folder that this process may not read, or on a system that opens no folders (Windows).
 */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => null);
  try {
    await handle?.sync();
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
