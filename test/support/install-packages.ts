import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const installMsMax = 300_000;

/** Installs the packages of a folder's lock file, unless they are newer than the lock file. Throws if npm fails. */
export async function installPackages(folder: string): Promise<void> {
  const installed = join(folder, 'node_modules/.package-lock.json');
  const lock = join(folder, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs > statSync(lock).mtimeMs) return;
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['ci', ...options], { timeout: installMsMax });
}
