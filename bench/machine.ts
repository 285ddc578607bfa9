import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';

/** Servers run here, and nothing else of ours. */
export const serverCore = 0;
/** The load generator and the harness run here. */
const loadCore = 1;

const canPin = cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0;

/** A command line that runs on one core alone, where the machine can do that. */
export function onCore(core: number, command: readonly string[]): string[] {
  return canPin ? ['taskset', '-c', String(core), ...command] : [...command];
}

/** Moves this process, and what it starts from now on, to the load generator's core. */
export function moveToLoadCore(): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', String(loadCore), String(process.pid)]);
}

/** What the figures were measured on, in one sentence. */
export function describeMachine(): string {
  const model = cpus()[0]?.model ?? 'an unknown processor';
  const memoryGib = Math.round(totalmem() / 1024 ** 3);
  const pinning = canPin ? 'server and load generator pinned to one core each' : 'nothing pinned to a core';
  return `${cpus().length} cores (${model}), ${memoryGib} GiB, ${type()} ${release()}, Node ${process.version.slice(1)}; ${pinning}`;
}

/** All that a measured process gets of its surroundings, lest a setting of the user's change what is measured. */
export const inheritedEnvironment = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TMPDIR: process.env['TMPDIR'],
};
