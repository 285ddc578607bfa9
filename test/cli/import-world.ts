import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import type { Authorship } from '../../src/audit/audit-entry.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { systemClock } from '../../src/clock.ts';
import type { Catalogue } from '../../src/pets/catalogue.ts';
import type { Pet } from '../../src/pets/pet.ts';
import { openSqlite } from '../../src/storage/sqlite/database.ts';
import { openCatalogue } from '../support/catalogue.ts';

/** The actor and the time of each import. */
export const by: Authorship = { actor: { kind: 'command', name: 'mira' }, nowMs: Date.UTC(2027, 0, 2, 12) };

/** Creates a folder and an empty catalogue in a SQLite store. Both are deleted after the test. */
export async function createWorld(test: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const database = await openSqlite(join(folder, 'store.db'));
  test.after(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });
  return { folder, catalogue: openCatalogue(database, systemClock) };
}

/** Runs a command and returns its output. If the command throws, returns the error, too. */
export async function run(
  command: (terminal: Terminal) => Promise<void>,
  { stdin = '', isTTY = false }: { readonly stdin?: string | Uint8Array; readonly isTTY?: boolean } = {},
) {
  const stdout = new PassThrough({ highWaterMark: 2 ** 24 });
  const stderr = Object.assign(new PassThrough({ highWaterMark: 2 ** 24 }), { isTTY });
  let error: unknown = null;
  try {
    await command({ stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr });
  } catch (thrown) {
    error = thrown;
  }
  stdout.end();
  stderr.end();
  return { stdout: await text(stdout), stderr: await text(stderr), error };
}

export async function listPets(catalogue: Catalogue): Promise<readonly Pet[]> {
  return (await Array.fromAsync(catalogue.listAll())).flat();
}
