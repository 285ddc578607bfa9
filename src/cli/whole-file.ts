import { randomUUID } from 'node:crypto';
import { link, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatorError, UsageError } from '../errors.ts';
import { syncFolder } from '../storage/durable-files.ts';

/**
 * The permissions until `chmod` sets the final ones. `open` cannot set the final ones, because the umask restricts
 * them.
 */
const ownerOnly = 0o600;

/**
 * Writes a file atomically: writes a temporary file in the same folder, flushes it with fsync and renames it. A reader
 * sees the old file or the whole new file, never a part. `write` gets the path of an empty file. The file has the
 * permissions `mode`. Without `mode`, the umask determines the permissions.
 *
 * Throws UsageError if the name is empty. Throws OperatorError if the file exists and `replaces` is false, or if the
 * file cannot be written. Rethrows the errors of `write`.
 */
export async function writeWholeFile(
  file: string,
  { replaces, mode }: { readonly replaces: boolean; readonly mode?: number },
  write: (unfinished: string) => Promise<void> | void,
): Promise<void> {
  if (file === '') throw new UsageError('the name of the file to write is empty');
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
    // If the folder does not exist, the removal fails too. Only the first error is reported.
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw toWriteError(file, error);
  }
}

/**
 * Throws if the target is not a regular file, or if it exists and `replaces` is false. `lstat` also finds a broken
 * link.
 */
async function checkTarget(file: string, replaces: boolean): Promise<void> {
  const look = replaces ? stat : lstat;
  const found = await look(file).catch(() => null);
  if (found === null) return;
  if (!found.isFile() && !found.isSymbolicLink())
    throw new OperatorError(`${file} cannot be written: it is not a regular file`);
  if (!replaces) throw new OperatorError(`${file} exists already: --force replaces it`);
}

/** A link does not replace a file that was created after the check. Some file systems have no hard links. */
async function putInPlace(unfinished: string, file: string, replaces: boolean): Promise<void> {
  if (!replaces) {
    const isLinked = await link(unfinished, file).then(
      () => true,
      () => false,
    );
    if (isLinked) return rm(unfinished);
  }
  await checkTarget(file, replaces);
  await rename(unfinished, file);
}

/** Converts a system error to an OperatorError. Returns any other error unchanged. */
function toWriteError(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  return new OperatorError(`${file} cannot be written: ${error.message}`, { cause: error });
}
