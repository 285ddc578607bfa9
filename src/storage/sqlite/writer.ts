import type { TransactionList } from '../database.ts';
import { createRunBatch, type Write, type WriteResult } from './batch.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy } from './connection.ts';
import { type StoreThread, serveTasks, startThread } from './thread.ts';

/** The writing thread of a store, which alone in the process writes to it. A task is the writes of one commit (batch.ts). */
export type Writer = StoreThread<readonly Write[], readonly WriteResult[]>;

/** Opens a store on a writing thread, whose module `entry` calls `serveWrites`. Throws if it cannot be opened. */
export function startWriter(path: string, entry: URL): Promise<Writer> {
  return startThread(path, entry);
}

/** Serves statements and these transactions in this thread. The entry of the writing thread calls it once. */
export function serveWrites(transactions: TransactionList): void {
  serveTasks(async (path) => {
    const connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
    // Otherwise SQLite writes the pages that a savepoint keeps to a temporary file, beyond 64 KiB.
    connection.raw.exec('pragma temp_store = memory');
    return { run: createRunBatch(connection, transactions), close: connection.close };
  });
}
