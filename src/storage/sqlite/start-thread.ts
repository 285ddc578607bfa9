import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Job } from './batch.ts';
import { unpackError } from './packed-error.ts';
import type { WritingAnswer, WritingOrder } from './serve-writes.ts';

/** The writing thread of a store. */
export interface WritingThread {
  /** Sends the jobs of one commit. Wait for the answer before the next commit. */
  send(jobs: readonly Job[], onAnswer: (answer: WritingAnswer) => void): void;
  /** Closes the store. The thread waits for another store. */
  close(): Promise<void>;
}

/**
 * Threads without a store, by their entry. The next store gets one of them, because a thread takes ten times as long to
 * start as a store to open.
 */
const idle = new Map<string, Worker[]>();

/**
 * Opens the store at `path` on a writing thread. `entry` is the module that calls `serveWrites`. The thread keeps the
 * process alive only while it works. An error that ends the thread also ends the process. Throws the error if the store
 * cannot be opened.
 */
export async function startThread(path: string, entry: URL): Promise<WritingThread> {
  const threads = idle.get(entry.href) ?? [];
  idle.set(entry.href, threads);
  const worker = threads.pop() ?? createWorker(entry);
  try {
    await ask(worker, path);
  } catch (error) {
    await worker.terminate();
    throw error;
  }

  let receive: (answer: WritingAnswer) => void = () => undefined;
  const onMessage = (answer: WritingAnswer) => {
    worker.unref();
    receive(answer);
  };
  const onError = (error: unknown) => {
    throw error;
  };
  worker.on('error', onError);
  worker.on('message', onMessage);

  return {
    send(jobs, onAnswer) {
      receive = onAnswer;
      post(worker, jobs);
    },
    async close() {
      worker.off('message', onMessage);
      await ask(worker, null);
      worker.off('error', onError);
      threads.push(worker);
    },
  };
}

function createWorker(entry: URL): Worker {
  const compiled = getCompileCacheDir();
  return new Worker(entry, {
    name: 'sqlite',
    // Does not inherit the flags of the program, because some, such as `--eval`, do not work in a thread. The warning
    // is disabled because the main thread has already shown it.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // The thread has no other environment variable. Without the compile cache, it takes ten times as long to start.
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
  });
}

/** Sends a message and waits for the answer. Throws the error if nothing was done. */
async function ask(worker: Worker, order: WritingOrder): Promise<void> {
  post(worker, order);
  const [answer]: WritingAnswer[] = await once(worker, 'message');
  worker.unref();
  if (answer !== undefined && 'notDone' in answer) throw unpackError(answer.notDone);
}

function post(worker: Worker, order: WritingOrder): void {
  worker.ref();
  worker.postMessage(order);
}
