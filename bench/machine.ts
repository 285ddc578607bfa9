import { cpus, release, totalmem, type } from 'node:os';

/** Describes the machine in one sentence. */
export function describeMachine(): string {
  const model = cpus()[0]?.model ?? 'an unknown processor';
  const memoryGib = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} cores (${model}), ${memoryGib} GiB, ${type()} ${release()}, Node ${process.version.slice(1)}`;
}

/** The only environment variables that a measured process gets, so that no setting of the user changes the result. */
export const inheritedEnvironment = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TMPDIR: process.env['TMPDIR'],
};
