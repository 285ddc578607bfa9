import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { secondMs } from '../../clock.ts';
import { OperatorError } from '../../errors.ts';
import { toOpeningError } from '../opening-error.ts';
import { parseStoreAddress } from '../store-address.ts';
import { isBusy } from './connection.ts';
import { lockFile } from './file-lock.ts';
import { makeStoreFile } from './store-file.ts';

/** Time in ms for which to retry the lock on the file. A command that checks the lock takes it for a moment. */
const lockMsMax = secondMs;
const retryAfterMs = 5;

/**
 * Claims a SQLite store for one service, and creates its file if necessary. Returns the function that releases the
 * claim. If two services used the store, each would count requests separately, and together they would allow twice
 * the rate limits.
 *
 * The claim consists of two locks. The system releases both when the process ends.
 * - A lock on the file `-serving` beside the store. It stops a second service that uses the same path.
 * - A lock on the store file itself. It stops a second service that uses another path (a link) to the same file.
 *
 * A restore and a migration take both locks while they run. A move takes both for a moment. Other commands take no
 * lock. PostgreSQL needs no claim, because several services may use the same store.
 *
 * Throws OperatorError if another service has the claim, or if the file cannot be used.
 */
export async function claimServing(databaseUrl: string): Promise<() => void> {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine !== 'sqlite') return () => undefined;
  try {
    await makeStoreFile(location);
    const release = await claim(
      location,
      `another service is serving the database ${location}, or a command migrates or restores it: several services need PostgreSQL`,
    );
    served.add(location);
    return () => {
      served.delete(location);
      release();
    };
  } catch (error) {
    throw toOpeningError(location, error);
  }
}

/** Paths of the stores that this process serves. */
const served = new Set<string>();

/**
 * Prevents other services from starting on a store during a migration. Returns the function that permits such starts
 * again. Does nothing if this process serves the store. Throws OperatorError if another process has the claim, because
 * a running service would write with the old schema. That process may also be a command that migrates the store.
 */
export async function claimMigrating(path: string): Promise<() => void> {
  if (served.has(path)) return () => undefined;
  return claim(
    path,
    `the database ${path} has the schema of an older release, and a service or another migration uses it: stop that service, or run this command again after the migration`,
  );
}

async function claim(path: string, refusal: string): Promise<() => void> {
  const releaseName = claimName(path, refusal);
  try {
    const releaseFile = await claimFile(path);
    return () => {
      releaseFile();
      releaseName();
    };
  } catch (error) {
    releaseName();
    throw error;
  }
}

function claimName(path: string, refusal: string): () => void {
  const claim = new DatabaseSync(servingFile(path), { timeout: 0 });
  try {
    claim.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    claim.close();
    if (!isBusy(error)) throw error;
    throw new OperatorError(refusal, { cause: error });
  }
  return () => claim.close();
}

async function claimFile(path: string): Promise<() => void> {
  const lastAtMs = performance.now() + lockMsMax;
  for (;;) {
    const release = lockFile(path);
    if (release !== null) return release;
    if (performance.now() >= lastAtMs)
      throw new OperatorError(`another service is serving the database ${path} under another name`);
    await setTimeout(retryAfterMs);
  }
}

/** Returns true if a service serves the store under this path. */
export function isServed(path: string): boolean {
  const claimed = servingFile(path);
  if (!existsSync(claimed)) return false;
  const claim = new DatabaseSync(claimed, { readOnly: true, timeout: 0 });
  try {
    claim.prepare('select count(*) from sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    claim.close();
  }
}

function servingFile(path: string): string {
  return `${path}-serving`;
}
