import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
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
  for (let links = 0; links < linksMax && isLink(followed); links += 1) {
    const target = readlinkSync(followed);
    followed = isAbsolute(target) ? target : `${dirname(followed)}/${target}`;
  }
  return followed === path ? path : join(resolveFolder(dirname(followed)), basename(followed));
}

/** What may not be looked at is none: to open it tells why. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function resolveFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
