import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Job, Outcome } from './batch.ts';
import { unpackError } from './packed-error.ts';
import type { WritingAnswer, WritingOrder } from './serve-writes.ts';

/** The writing thread of a store. Wait for each call before the next call. */
export interface WritingThread {
  /** Runs jobs in one commit (batch.ts). Throws if nothing was done. */
  run(jobs: readonly Job[]): Promise<readonly Outcome[]>;
  /** Closes the store. The thread waits for another store. */
  close(): Promise<void>;
}

/** Sends an order to a thread and returns the outcomes of its jobs. Throws the error if nothing was done. */
type Ask = (order: WritingOrder) => Promise<readonly Outcome[]>;

/** Threads without a store, by their entry. A thread takes ten times as long to start as a store to open. */
const idle = new Map<string, Ask[]>();

/**
 * Opens the store at `path` on a writing thread. `entry` is the module that calls `serveWrites`. The thread keeps the
 * process alive only while it works. An error that ends the thread also ends the process. Throws the error if the store
 * cannot be opened.
 */
export async function startThread(path: string, entry: URL): Promise<WritingThread> {
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
    run: ask,
    async close() {
      await ask(null);
      threads.push(ask);
    },
  };
}

function createThread(entry: URL): Ask {
  const compiled = getCompileCacheDir();
  const worker = new Worker(entry, {
    name: 'sqlite',
    // Does not inherit the flags of the program, because some, such as `--eval`, do not work in a thread. The warning
    // is disabled because the main thread has already shown it.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // The thread has no other environment variable. Without the compile cache, it takes ten times as long to start.
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
  });
  let receive: (answer: WritingAnswer) => void = () => undefined;
  worker.on('message', (answer: WritingAnswer) => {
    worker.unref();
    receive(answer);
  });
  worker.on('error', (error) => {
    throw error;
  });
  return async (order) => {
    const answer = await new Promise<WritingAnswer>((resolve) => {
      receive = resolve;
      worker.ref();
      worker.postMessage(order);
    });
    if ('notDone' in answer) throw unpackError(answer.notDone);
    return answer.outcomes;
  };
}
