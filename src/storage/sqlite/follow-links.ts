import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';

/** Maximum number of links that Linux follows. */
const linksMax = 40;

/**
 * Resolves a symbolic link at a path. Returns any other path unchanged. The target need not exist. SQLite creates its
 * own files beside the target, so the files of a store must be looked up there.
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
 * Returns the target of a link, and null for anything else. Also returns null if the path may not be read. Opening
 * the path later reports the reason.
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
