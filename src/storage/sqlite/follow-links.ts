import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';

/** As many as Linux follows. */
const linksMax = 40;

/**
 * The path of the file that a path names: the same, unless a symbolic link stands there. Then it is the file that the
 * link leads to, also where there is none yet: SQLite puts its own files beside that one, so all that is looked for
 * beside a store has to be.
 */
export function followLinks(path: string): string {
  let followed = path;
  for (let links = 0; links < linksMax; links += 1) {
    const target = readLink(followed);
    if (target === null) break;
    followed = isAbsolute(target) ? target : `${dirname(followed)}/${target}`;
  }
  return followed === path ? path : join(resolveFolder(dirname(followed)), basename(followed));
}

/** Where a link leads to; null for all else. What may not be looked at is none: to open it tells why. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function resolveFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
