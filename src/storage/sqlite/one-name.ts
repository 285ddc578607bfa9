import { statSync } from 'node:fs';
import { toOpeningError } from '../opening-error.ts';
import { isServed } from './claim-serving.ts';
import { isFileLocked } from './file-lock.ts';

/**
 * Why it is not safe to open a store by this name; null if it is. SQLite keeps the newest commits in a `-wal` beside
 * the name by which a store was opened. Under a second name (a hard link, a mount of the single file, a rename during
 * use) nobody sees that `-wal`, and two writers overwrite each other's pages.
 */
export function findNameProblem(path: string): string | null {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file?.isFile()) return null;
  if (file.nlink > 1)
    return `the file has ${file.nlink} names (hard links), and a store may have only one: copy it, or remove the others`;
  return isServedElsewhere(path) ? 'a service serves the same file under another name' : null;
}

/** Throws OperatorError if it is not safe to open a store by this name, or its file cannot be checked. */
export function requireOneName(path: string): void {
  try {
    const problem = findNameProblem(path);
    if (problem !== null) throw new Error(problem);
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

/**
 * Checks the lock twice, because a service claims its name before it locks the file, and releases them in reverse
 * order.
 */
function isServedElsewhere(path: string): boolean {
  return isFileLocked(path) && !isServed(path) && isFileLocked(path);
}
