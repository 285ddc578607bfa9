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

/** How long the lock on the file is tried for: a command that looks at it holds it for a moment. */
const lockMsMax = secondMs;
const retryAfterMs = 5;

/**
 * Claims an embedded store for one service, which makes its file when there is none, and gives what releases it: two
 * services would each count for themselves and let twice the limits through. The claim is two locks, which end with the
 * process: one on the file `-serving` beside the store, for its name, and one on the store's own file, for every name
 * that it has. Commands take neither. A store on PostgreSQL may be served by many. Throws OperatorError when another
 * service has the claim, or the file cannot be used.
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

/** The stores that this process serves, by their paths. */
const served = new Set<string>();

/**
 * Keeps services from a store while its schema is brought up to date, and gives what ends that; one that was started before
 * the schema is known by its claim, and would write by a schema that is gone. Throws OperatorError while another process
 * has the claim.
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

/** Whether a service serves the store by this name. */
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
