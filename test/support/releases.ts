import { execFileSync, spawnSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ending, makeFolder } from './service.ts';

const root = join(import.meta.dirname, '../..');

/** From the release with this file on, 1.1.0, each release runs beside the one after it. */
const firstRollingFile = 'src/orders/orders.ts';

/** Returns true if this clone has an object, such as `<commit>:<path>`. */
export function hasObject(name: string): boolean {
  return spawnSync('git', ['cat-file', '-e', name], { cwd: root }).status === 0;
}

/**
 * Returns the commit of the last release before this commit beside which this one must run. Until there is one, returns
 * `HEAD`, so that a copy of this commit stands for it.
 */
export function findPreviousRelease(): string {
  const list = (...args: string[]) =>
    execFileSync('git', ['log', '--format=%H', ...args], { cwd: root, encoding: 'utf8' })
      .trim()
      .split('\n');
  const [head] = list('-1');
  const releases = list('-G"version":', '--', 'package.json');
  const earlier = releases.filter((commit) => commit !== head);
  return earlier.find((commit) => hasObject(`${commit}:${firstRollingFile}`)) ?? 'HEAD';
}

/** Installs the program of a commit in a folder that is removed after the test. Returns the path of the program. */
export async function installCommit(test: Ending, commit: string): Promise<string> {
  const folder = await makeFolder(test);
  const parts = ['bin', 'src', 'docs', 'client', 'package.json'];
  const input = execFileSync('git', ['archive', commit, ...parts], { cwd: root, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'bin/animal-store.js');
}
