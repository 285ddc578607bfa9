import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';

/** The most links that Linux follows. */
const linksMax = 40;

/**
 * Resolves a symbolic link at a path; any other path is returned as it is. The target need not exist yet. SQLite puts
 * its own files beside the target, so every file beside a store must be looked for there.
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

/**
 * The target of a link; null for anything else. A path that may not be read is not a link: opening it reports why.
 */
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
