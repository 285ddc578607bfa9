import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatorError } from '../errors.ts';

/**
 * Has a file written under a name of its own beside it, and puts it in its place only when it is whole and on disk: at
 * any moment there is the old file, or none, or the new one. `write` finds an empty file. Throws OperatorError where
 * the file is there already and is not to be replaced, or cannot be written; what `write` throws is passed on.
 */
export async function writeWholeFile(
  file: string,
  replaces: boolean,
  write: (unfinished: string) => Promise<void> | void,
): Promise<void> {
  await checkTarget(file, replaces);
  const unfinished = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(unfinished, 'wx');
    try {
      await write(unfinished);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw toWriteError(file, error);
  }
}

async function checkTarget(file: string, replaces: boolean): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found === null) return;
  if (!found.isFile()) throw new OperatorError(`${file} cannot be written: it is no regular file`);
  if (!replaces) throw new OperatorError(`${file} is there already: --force replaces it`);
}

/** Without it the new name may be lost when the machine loses power. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What the system says of a file becomes a line for the operator; any other error is passed on as it is. */
export function toWriteError(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  return new OperatorError(`${file} cannot be written: ${error.message}`, { cause: error });
}
