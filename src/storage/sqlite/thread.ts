import { getCompileCacheDir } from 'node:module';
import { parentPort, Worker } from 'node:worker_threads';
import { createRunBatch, type Job, type Outcome } from './batch.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy, type SqliteConnection } from './connection.ts';
import { type PackedError, packError, unpackError } from './packed-error.ts';

/** A message to the writing thread: the path of a store to open, the jobs of one commit, or null to close the store. */
type Order = string | readonly Job[] | null;

/** The answer to an order. `notDone` means that nothing was done. */
type Answer = { readonly notDone: PackedError } | { readonly outcomes: readonly Outcome[] };

/** Sends an order to a thread and returns the outcomes of its jobs. Throws the error if nothing was done. */
type Ask = (order: Order) => Promise<readonly Outcome[]>;

/** The writing thread of a store, which alone in the process writes to it. Wait for each call before the next call. */
export type WritingThread = Awaited<ReturnType<typeof startThread>>;

/** Threads without a store, by their entry. A thread takes ten times as long to start as a store to open. */
const idle = new Map<string, Ask[]>();

/**
 * Opens the store at `path` on a writing thread, whose module `entry` calls `serveWrites`. The thread keeps the process
 * alive only while it works, and an error that ends it ends the process. Throws if the store cannot be opened.
 */
export async function startThread(path: string, entry: URL) {
  const threads = idle.get(entry.href) ?? [];
  idle.set(entry.href, threads);
  const ask = threads.pop() ?? createThread(entry);
  try {
    await ask(path);
  } catch (error) {
    threads.push(ask);
    throw error;
  }
  return {
    /** Runs jobs in one commit (batch.ts). Throws if nothing was done. */
    run: (jobs: readonly Job[]) => ask(jobs),
    /** Closes the store. The thread waits for another store. */
    async close(): Promise<void> {
      await ask(null);
      threads.push(ask);
    },
  };
}

function createThread(entry: URL): Ask {
  const compiled = getCompileCacheDir();
  const worker = new Worker(entry, {
    name: 'sqlite',
    // The default takes 12 MiB more, and writes are no faster.
    resourceLimits: { maxYoungGenerationSizeMb: 6 },
    // Does not inherit the flags of the program, because some, such as `--eval`, do not work in a thread. The warning
    // is disabled because the main thread has already shown it.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // The thread has no other environment variable. Without the compile cache, it takes ten times as long to start.
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
  });
  let receive: (answer: Answer) => void = () => undefined;
  worker.on('message', (answer: Answer) => {
    worker.unref();
    receive(answer);
  });
  worker.on('error', (error) => {
    throw error;
  });
  return async (order) => {
    const answer = await new Promise<Answer>((resolve) => {
      receive = resolve;
      worker.ref();
      worker.postMessage(order);
    });
    if ('notDone' in answer) throw unpackError(answer.notDone);
    return answer.outcomes;
  };
}

/** Serves one store after another in this thread. The entry of the thread calls it once. */
export function serveWrites(): void {
  if (parentPort === null) throw new Error('writes are served only in a worker thread');
  const port = parentPort;
  let connection: SqliteConnection | undefined;
  let runBatch: ReturnType<typeof createRunBatch> = () => [];

  async function open(path: string): Promise<void> {
    connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
    // Otherwise SQLite writes the pages that a savepoint keeps to a temporary file, beyond 64 KiB.
    connection.raw.exec('pragma temp_store = memory');
    runBatch = createRunBatch(connection);
  }

  async function follow(order: Order): Promise<Answer> {
    try {
      if (typeof order === 'string') await open(order);
      else if (order === null) connection?.close();
      else return { outcomes: runBatch(order) };
      return { outcomes: [] };
    } catch (error) {
      return { notDone: packError(error) };
    }
  }
  port.on('message', async (order: Order) => port.postMessage(await follow(order)));
}
