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

/** How long to retry the lock on the file: a command that checks the lock takes it for a moment. */
const lockMsMax = secondMs;
const retryAfterMs = 5;

/**
 * Claims a SQLite store for one service and creates its file if necessary. Returns the function that releases it. Two
 * services would count separately and let twice the limits through.
 *
 * The claim is two locks that end with the process. One is on the file `-serving` beside the store. It stops a second
 * service that uses the same path. The other is on the store file itself. It stops one that uses another path (a link)
 * to the same file. A restore takes both, and a move takes them for a moment. A migration takes the first while it runs.
 * Other commands take neither. Many services may serve a store on PostgreSQL.
 *
 * Throws OperatorError if another service has the claim, or the file cannot be used.
 */
export async function claimServing(databaseUrl: string): Promise<() => void> {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine !== 'sqlite') return () => undefined;
  try {
    await makeStoreFile(location);
    const releaseName = claimName(
      location,
      `another service is serving the database ${location}: several services need PostgreSQL`,
    );
    const releaseFile = await claimFile(location).catch((error) => {
      releaseName();
      throw error;
    });
    served.add(location);
    return () => {
      served.delete(location);
      releaseFile();
      releaseName();
    };
  } catch (error) {
    throw toOpeningError(location, error);
  }
}

/** The paths of the stores that this process serves. */
const served = new Set<string>();

/**
 * Prevents services from starting on a store during a migration. Returns the function that allows them again. A running
 * service has the claim, and would write with the old schema. Throws OperatorError while another process has the claim.
 */
export function claimMigrating(path: string): () => void {
  if (served.has(path)) return () => undefined;
  return claimName(
    path,
    `the database ${path} has the schema of an older release and is being served: stop that service first`,
  );
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

/** Whether a service serves the store under this name. */
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
