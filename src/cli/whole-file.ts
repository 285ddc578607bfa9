import { randomUUID } from 'node:crypto';
import { link, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatorError, UsageError } from '../errors.ts';
import { syncFolder } from '../storage/durable-files.ts';

/**
 * Writes a file atomically and durably: a reader sees the old file or the whole new file, never a part. `write` gets the
 * path of an empty file beside it with the permissions `mode`, restricted by the umask.
 *
 * Throws UsageError if the name is empty. Throws OperatorError if the file exists and `replaces` is false, before the
 * write or after it, or if the file cannot be written. Rethrows the errors of `write`.
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
    const handle = await open(unfinished, 'wx', mode);
    try {
      await write(unfinished);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // A link does not replace a file that was created after the check. Some file systems have no hard links.
    const isLinked =
      !replaces &&
      (await link(unfinished, file).then(
        () => true,
        () => false,
      ));
    if (isLinked) await rm(unfinished);
    else {
      await checkTarget(file, replaces);
      await rename(unfinished, file);
    }
    await syncFolder(dirname(file));
  } catch (error) {
    // If the folder does not exist, the removal fails too. Only the first error is reported.
    await rm(unfinished, { force: true }).catch(() => undefined);
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const folder = dirname(file);
    const isMissing = (await stat(folder).catch(() => null)) === null;
    const reason = isMissing ? `the folder ${folder} does not exist` : error.message;
    throw new OperatorError(`${file} cannot be written: ${reason}`, { cause: error });
  }
}

/** Throws if the target is not a regular file, or if it exists and `replaces` is false, also as a broken link. */
async function checkTarget(file: string, replaces: boolean): Promise<void> {
  const look = replaces ? stat : lstat;
  const found = await look(file).catch(() => null);
  if (found === null) return;
  if (!found.isFile() && !found.isSymbolicLink())
    throw new OperatorError(`${file} cannot be written: it is not a regular file`);
  if (!replaces) throw new OperatorError(`${file} exists already: --force replaces it`);
}
