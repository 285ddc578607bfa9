import { oneAtATime } from '../../promises.ts';
import { storeUnavailable } from '../store-errors.ts';
import { toStorageError } from './connection.ts';
import type { SqliteCall } from './statements.ts';
import { type StoreThread, startThread } from './thread.ts';

const readingThread = new URL('reading-thread.ts', import.meta.url);

/**
 * Creates a reader with a thread of its own, for reads that would hold up the event loop. The thread starts at the first
 * read, and does one after the other.
 */
export function createReader(path: string) {
  let thread: StoreThread<SqliteCall, readonly unknown[]> | null = null;
  let isClosed = false;
  const reads = oneAtATime(async (call: SqliteCall) => {
    try {
      thread ??= await startThread<SqliteCall, readonly unknown[]>(path, readingThread);
      return await thread.run(call);
    } catch (error) {
      throw toStorageError(error);
    }
  });

  return {
    /** Returns the rows of a read. Throws AppError `unavailable` as `Database` says. */
    async read(call: SqliteCall): Promise<readonly unknown[]> {
      if (isClosed) throw storeUnavailable(new Error('the database is closed'));
      return await reads.run(call);
    },

    /** Closes the store after all reads. A second call does nothing. */
    async close(): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      await reads.drain();
      await thread?.close();
    },
  };
}
