import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../errors.ts';
import { parseStoreAddress } from '../store-address.ts';
import { isBusy } from './connection.ts';

/**
 * Claims an embedded store for one service that serves it, as two would each count for themselves and let twice the
 * limits through; gives what lets go of it. The claim is a lock on a file beside the store, which ends with the
 * process however it ends; commands need none. A store on PostgreSQL may be served by many. Throws OperatorError where
 * another service has the claim.
 */
export function claimServing(databaseUrl: string): () => void {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine !== 'sqlite') return () => undefined;
  const claim = new DatabaseSync(`${location}-serving`, { timeout: 0 });
  try {
    claim.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    claim.close();
    if (!isBusy(error)) throw error;
    throw new OperatorError(
      `another service is serving the database ${location}: several services need PostgreSQL`,
      { cause: error },
    );
  }
  return () => claim.close();
}
