import type { TransactionList } from '../database.ts';
import { createRunBatch, type Write, type WriteResult } from './batch.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy } from './connection.ts';
import { type StoreThread, serveTasks, startThread } from './thread.ts';

/** What alone in the process writes to a store. A task is the writes of one commit (batch.ts). */
export type Writer = StoreThread<readonly Write[], readonly WriteResult[]>;

/** The entry of a thread for the writes, which calls `serveWrites`, or the transactions to run on the calling thread. */
export type WriterPlace = URL | TransactionList;

/** Opens a store for its writes. On the calling thread, each write blocks it. Throws if the store cannot be opened. */
export async function startWriter(path: string, place: WriterPlace): Promise<Writer> {
  if (place instanceof URL) return startThread(path, place);
  const { run, close } = await openWriter(path, place);
  return { run: async (writes) => run(writes), close: async () => close() };
}

/** Serves statements and these transactions in this thread. The entry of the writing thread calls it once. */
export function serveWrites(transactions: TransactionList): void {
  serveTasks((path) => openWriter(path, transactions));
}

async function openWriter(path: string, transactions: TransactionList) {
  const connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
  // Otherwise SQLite writes the pages that a savepoint keeps to a temporary file, beyond 64 KiB.
  connection.raw.exec('pragma temp_store = memory');
  return { run: createRunBatch(connection, transactions), close: connection.close };
}
