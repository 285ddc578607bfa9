import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { Skipped, type TortureContext } from '../scenario.ts';

/** Mounts a tmpfs of `sizeMib` MiB on a folder. Unmounts it when the scenario ends. */
export function mountSmallDisk(context: TortureContext, folder: string, sizeMib: number): void {
  mkdirSync(folder, { recursive: true });
  requireSystem('mount', '-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs', folder);
  context.after(() => runSystem('umount', '-l', folder));
}

/** Mounts `folder` read-only at `place`. Unmounts it when the scenario ends. */
export function mountReadOnly(context: TortureContext, folder: string, place: string): void {
  mkdirSync(place, { recursive: true });
  requireSystem('mount', '--bind', folder, place);
  context.after(() => runSystem('umount', '-l', place));
  requireSystem('mount', '-o', 'remount,ro,bind', place);
}

/** Runs a system command. Throws Skipped if it is not permitted here. */
export function requireSystem(...command: string[]): void {
  const problem = runSystem(...command);
  if (problem !== null)
    throw new Skipped(`${command.join(' ')}: ${problem}; this needs root and a system that permits it`);
}

/** Returns null if the command succeeded, otherwise its output. */
export function runSystem(...[file = '', ...args]: string[]): string | null {
  const { status, stderr, error } = spawnSync(file, args, { encoding: 'utf8' });
  return status === 0 ? null : (error?.message ?? stderr.trim());
}
