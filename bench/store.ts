import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, copyFileSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { makeAnimalLines } from './animals.ts';
import { inheritedEnvironment } from './machine.ts';

/** The service's own command line. */
export const serviceEntry = join(import.meta.dirname, '..', 'bin', 'animal-store.js');

/** A store of the service that holds the animals and one key. */
export interface SeededStore {
  readonly file: string;
  readonly animals: number;
  /** An API key whose limits are out of reach for hours, so that every request is counted and none refused. */
  readonly key: string;
}

/** The most that V8 holds as a small integer, as it does any plan's numbers: six hours at 100,000 requests a second. */
const ample = '2147483647';

/** Builds a store as an operator would: `import`, then `keys create`. */
export async function buildStore(folder: string, animals: number): Promise<SeededStore> {
  const file = join(folder, `seed-${animals}.db`);
  return { file, animals, key: await seedStore(serviceEnvironment(file), animals) };
}

/** Fills the store that an environment names, and gives its key. */
export async function seedStore(environment: Record<string, string>, animals: number): Promise<string> {
  const importing = ['import', '-', '--format', 'ndjson', '--json'];
  await runService(environment, importing, makeAnimalLines(animals));
  const limits = ['--per-minute', ample, '--per-day', ample];
  const issued = await runService(
    environment,
    ['keys', 'create', '--plan', 'enterprise', ...limits, '--scopes', 'all', '--json'],
    [],
  );
  return (JSON.parse(issued) as { key: string }).key;
}

/** A copy of the store's file, which a server may change. */
export function copyStore({ file }: SeededStore, folder: string, name: string): string {
  const copy = join(folder, `${name}.db`);
  copyFileSync(file, copy, constants.COPYFILE_FICLONE);
  // A copy under a name that was used before must not meet the log of the old one.
  for (const ending of ['-wal', '-shm']) rmSync(copy + ending, { force: true });
  // What the system still has to write of it would be measured with the commits.
  const descriptor = openSync(copy, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
  return copy;
}

/** What the service runs with: everything as shipped, but for its addresses and its file. */
export function serviceEnvironment(file: string): Record<string, string> {
  return { ENVIRONMENT: 'production', DATABASE_URL: `sqlite:${file}` };
}

async function runService(
  environment: Record<string, string>,
  args: readonly string[],
  input: Iterable<string>,
): Promise<string> {
  const child = spawn(process.execPath, [serviceEntry, ...args], {
    env: { ...inheritedEnvironment, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const output = text(child.stdout);
  await pipeline(Readable.from(input), child.stdin);
  const [code] = await ended;
  if (code !== 0) throw new Error(`animal-store ${args.join(' ')} ended with ${code}`);
  return await output;
}
