import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { whyNoProgram } from './programs.ts';
import { type Ending, makeFolder } from './service.ts';

const run = promisify(execFile);

export const whyNoPostgresTools = async () =>
  (await whyNoProgram('pg_dump')) || (await whyNoProgram('pg_restore'));

/** Opens a folder for dumps. Returns a function that runs shell commands there, with a store as `DATABASE_URL`. */
export async function openDumpFolder(test: Ending) {
  const cwd = await makeFolder(test);
  return async (databaseUrl: string, commands: string): Promise<void> => {
    await run('sh', ['-ec', commands], { cwd, env: { ...process.env, DATABASE_URL: databaseUrl } });
  };
}
