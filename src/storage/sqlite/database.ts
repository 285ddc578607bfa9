import type { Database, Parameters, Statement } from '../database.ts';
import { makeStoreFile } from '../durable-files.ts';
import { toOpeningError } from '../store-errors.ts';
import { requireSafePlace } from './claim-serving.ts';
import { lockWaitMsMax, openReadingConnection, repeatWhileBusy, toStorageError } from './connection.ts';
import { loadRows } from './load.ts';
import { createReader } from './reader.ts';
import { migrateFile, requireStore } from './schema.ts';
import { toCall } from './statements.ts';
import { createWriteQueue } from './write-queue.ts';
import { startWriter, type WriterPlace } from './writer.ts';

/** The entry of the thread that knows the transactions of the service. */
const defaultThread = new URL('../../writing-thread.ts', import.meta.url);

const readBusyTimeoutMs = 1_000;

/** Implements `openDatabase` on SQLite. By default a thread writes, so that a disk sync does not block the caller. */
export async function openSqlite(
  path: string,
  writer: WriterPlace = defaultThread,
  mayMigrate = true,
): Promise<Database> {
  try {
    if (mayMigrate) {
      await requireSafePlace(path);
      await makeStoreFile(path);
      await repeatWhileBusy(() => migrateFile(path), lockWaitMsMax);
    } else await requireStore(path);
    return await connect(path, writer);
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

async function connect(path: string, place: WriterPlace): Promise<Database> {
  const writer = await startWriter(path, place);
  const reading = await repeatWhileBusy(() => openReadingConnection(path, readBusyTimeoutMs), lockWaitMsMax);
  const queue = createWriteQueue(writer);
  const reader = createReader(path);

  function readNow<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): readonly R[] {
    try {
      return reading.run(toCall(statement, parameters)) as readonly R[];
    } catch (error) {
      throw toStorageError(error);
    }
  }

  return {
    engine: 'sqlite',
    hasOneWriter: true,
    read: async (statement, parameters) => readNow(statement, parameters),
    readNow,
    async readAside<P extends Parameters, R>(statement: Statement<P, R>, parameters: P) {
      return (await reader.read(toCall(statement, parameters))) as readonly R[];
    },
    countConnections: queue.count,
    run: async (statement, parameters) => queue.add(toCall(statement, parameters)),
    transact: ({ name }, input) => queue.add({ name, input }),
    load: (...rows) =>
      loadRows(path, ...rows).catch((error) => {
        throw toStorageError(error);
      }),
    async close() {
      // First, so that the writer has the last connection, which makes the final checkpoint.
      reading.close();
      await reader.close();
      await queue.close();
    },
  };
}
