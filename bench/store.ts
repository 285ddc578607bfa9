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

/** A SQLite store with animals and one key. */
export interface SeededStore {
  readonly file: string;
  readonly animals: number;
  readonly keyId: string;
  /** An API key with limits that take hours to reach, so that every request is counted and none is refused. */
  readonly key: string;
}

/**
 * The greatest small integer of V8, because V8 stores the limits of all plans as small integers. At 100,000 requests a
 * second, the limit is reached after six hours.
 */
export const ample = '2147483647';

/** Builds a SQLite store with the commands `import` and `keys create`. */
export async function buildStore(folder: string, animals: number): Promise<SeededStore> {
  const file = join(folder, `seed-${animals}.db`);
  return { file, animals, ...(await seed(serviceEnvironment(file), animals)) };
}

/** Adds animals and a key to the store at the environment's DATABASE_URL. Returns the key. */
export async function seedStore(environment: Record<string, string>, animals: number): Promise<string> {
  return (await seed(environment, animals)).key;
}

async function seed(environment: Record<string, string>, animals: number) {
  const importing = ['import', '-', '--format', 'ndjson', '--json'];
  await runService(environment, importing, makeAnimalLines(animals));
  const limits = ['--per-minute', ample, '--per-day', ample];
  const issued = await runService(
    environment,
    ['keys', 'create', '--plan', 'enterprise', ...limits, '--scopes', 'all', '--json'],
    [],
  );
  const { id, key } = JSON.parse(issued) as { id: string; key: string };
  return { keyId: id, key };
}

/** Copies the file of a store, so that a server can change the copy. Returns the path of the copy. */
export function copyStore({ file }: SeededStore, folder: string, name: string): string {
  const copy = join(folder, `${name}.db`);
  copyFileSync(file, copy, constants.COPYFILE_FICLONE);
  // An earlier copy may have had the same name. SQLite would apply its write-ahead log to the new copy.
  for (const ending of ['-wal', '-shm']) rmSync(copy + ending, { force: true });
  // Without this fsync, the first measured commit would wait until the copy is on disk.
  const descriptor = openSync(copy, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
  return copy;
}

/** Returns the environment variables of a service in production on this SQLite file. */
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
