import { statSync } from 'node:fs';
import { toOpeningError } from '../opening-error.ts';
import { isServed } from './claim-serving.ts';
import { isFileLocked } from './file-lock.ts';

/**
 * Returns the reason why it is unsafe to open a store under this path, or null.
 *
 * SQLite keeps the newest commits in a `-wal` beside the path under which a store was opened. A file can get a second
 * name by a hard link, a mount of the single file, or a rename during use. A process that uses the second name does
 * not see that `-wal`. Then two writers overwrite each other's pages.
 */
export function findNameProblem(path: string): string | null {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file?.isFile()) return null;
  if (file.nlink > 1)
    return `the file has ${file.nlink} names (hard links), and a store may have only one: copy it, or remove the others`;
  return isServedElsewhere(path) ? 'a service serves the same file under another name' : null;
}

/** Throws OperatorError if it is unsafe to open a store under this path, or if the file cannot be checked. */
export function requireOneName(path: string): void {
  try {
    const problem = findNameProblem(path);
    if (problem !== null) throw new Error(problem);
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

/**
 * Checks the file lock twice. A service claims its name before it locks the file, and unlocks the file before it
 * releases the name. The second check detects a service of this path that stopped after the first check.
 */
function isServedElsewhere(path: string): boolean {
  return isFileLocked(path) && !isServed(path) && isFileLocked(path);
}
