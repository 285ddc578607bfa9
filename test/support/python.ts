import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { refuseInCi } from './programs.ts';

const run = promisify(execFile);

/** Returns false if this machine has a Python that the client supports, otherwise the reason. With CI=true, throws instead. */
export async function whyNoPython(): Promise<string | false> {
  const check = 'import sys; sys.exit(sys.version_info < (3, 11))';
  const isThere = await run('python3', ['-c', check]).then(
    () => true,
    () => false,
  );
  return isThere ? false : refuseInCi('SKIPPED: there is no python3 of version 3.11 or later; install one');
}

/** Returns false if Python has a module, otherwise the reason. With CI=true, throws instead. */
export async function whyNoModule(name: string): Promise<string | false> {
  const isThere = await run('python3', ['-m', name, '--version']).then(
    () => true,
    () => false,
  );
  return isThere ? false : refuseInCi(`SKIPPED: python3 has no ${name}; install one`);
}
