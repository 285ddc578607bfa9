import { cpus, release, totalmem, type } from 'node:os';

/** What the figures were measured on, in one sentence. */
export function describeMachine(): string {
  const model = cpus()[0]?.model ?? 'an unknown processor';
  const memoryGib = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} cores (${model}), ${memoryGib} GiB, ${type()} ${release()}, Node ${process.version.slice(1)}`;
}

/** All that a measured process gets of its surroundings, lest a setting of the user's change what is measured. */
export const inheritedEnvironment = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TMPDIR: process.env['TMPDIR'],
};
