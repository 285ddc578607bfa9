import { randomUUID } from 'node:crypto';
import { link, lstat, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatorError } from '../errors.ts';
import { syncFolder } from '../storage/sync-folder.ts';

/** The permissions of a file until it has its own, which the umask would narrow. */
const ownerOnly = 0o600;

/**
 * Writes a file under a temporary name beside it, and renames it when it is whole and on disk: at any moment there is
 * the old file, or none, or the new one. `write` finds an empty file, which has the permissions `mode` already; without
 * a `mode` it has those that the umask leaves. Throws OperatorError when the file exists and is not to be replaced, or
 * cannot be written; passes on what `write` throws.
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

/** Throws where a file is there, or a link, that is not to be replaced. */
async function checkTarget(file: string, replaces: boolean): Promise<void> {
  const look = replaces ? stat : lstat;
  const found = await look(file).catch(() => null);
  if (found === null) return;
  if (!found.isFile() && !found.isSymbolicLink())
    throw new OperatorError(`${file} cannot be written: it is no regular file`);
  if (!replaces) throw new OperatorError(`${file} is there already: --force replaces it`);
}

/** What has come to be there since it was checked must not be replaced either: `link` fails where the name is taken. */
async function putInPlace(unfinished: string, file: string, replaces: boolean): Promise<void> {
  if (replaces || !(await tryToLink(unfinished, file))) {
    await checkTarget(file, replaces);
    await rename(unfinished, file);
  } else await rm(unfinished);
}

/** Whether the file has the second name now; there are file systems on which none can have two. */
async function tryToLink(file: string, second: string): Promise<boolean> {
  return link(file, second).then(
    () => true,
    () => false,
  );
}

/** What the system says of a file becomes a line for the operator; any other error is passed on as it is. */
function toWriteError(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  return new OperatorError(`${file} cannot be written: ${error.message}`, { cause: error });
}
