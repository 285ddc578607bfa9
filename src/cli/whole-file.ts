import { randomUUID } from 'node:crypto';
import { link, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatorError } from '../errors.ts';
import { syncFolder } from '../storage/sync-folder.ts';

/** The permissions of a file until `chmod` sets its own. The umask would restrict those of `open`. */
const ownerOnly = 0o600;

/**
 * Writes a file atomically: under a temporary name in the same folder, then fsync and rename. A reader finds the old
 * file or the whole new one, never a part. Calls `write` with the path of an empty file that has the permissions `mode`,
 * or those of the umask without a `mode`.
 *
 * Throws OperatorError if the file exists and `replaces` is false, or if it cannot be written. Rethrows the errors of
 * `write`.
 */
export async function writeWholeFile(
  file: string,
  { replaces, mode }: { readonly replaces: boolean; readonly mode?: number },
  write: (unfinished: string) => Promise<void> | void,
): Promise<void> {
  await checkTarget(file, replaces);
  const unfinished = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(unfinished, 'wx', mode === undefined ? undefined : ownerOnly);
    try {
      if (mode !== undefined) await handle.chmod(mode);
      await write(unfinished);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await putInPlace(unfinished, file, replaces);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw toWriteError(file, error);
  }
}

/** Throws if there is a file or a link, and `replaces` is false. */
async function checkTarget(file: string, replaces: boolean): Promise<void> {
  const look = replaces ? stat : lstat;
  const found = await look(file).catch(() => null);
  if (found === null) return;
  if (!found.isFile() && !found.isSymbolicLink())
    throw new OperatorError(`${file} cannot be written: it is not a regular file`);
  if (!replaces) throw new OperatorError(`${file} exists already: --force replaces it`);
}

/** Also does not replace a file that was created after the check: `link` fails if the name exists. */
async function putInPlace(unfinished: string, file: string, replaces: boolean): Promise<void> {
  if (replaces || !(await tryToLink(unfinished, file))) {
    await checkTarget(file, replaces);
    await rename(unfinished, file);
  } else await rm(unfinished);
}

/** Whether the file has the second name now. Some file systems do not support hard links. */
async function tryToLink(file: string, second: string): Promise<boolean> {
  return link(file, second).then(
    () => true,
    () => false,
  );
}

/** Converts a system error to an error for the operator. Returns any other error unchanged. */
function toWriteError(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  return new OperatorError(`${file} cannot be written: ${error.message}`, { cause: error });
}
