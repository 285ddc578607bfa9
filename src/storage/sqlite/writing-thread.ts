import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Job } from './batch.ts';
import { unpackError } from './packed-error.ts';
import type { WritingAnswer } from './thread.ts';

/** The writing thread of a store. */
export interface WritingThread {
  /** Sends the jobs of one commit. Wait for the answer before the next commit. */
  send(jobs: readonly Job[], onAnswer: (answer: WritingAnswer) => void): void;
  /** Closes the store and ends the thread. */
  close(): Promise<void>;
}

/**
 * Starts the writing thread of the store at `path`. `entry` is the module that calls `serveWrites`. The thread keeps the
 * process alive only while a commit runs. An error that ends the thread also ends the process. Throws the error if the
 * store cannot be opened.
 */
export async function startThread(path: string, entry: URL): Promise<WritingThread> {
  const compiled = getCompileCacheDir();
  const worker = new Worker(entry, {
    name: 'sqlite',
    workerData: { path },
    // Does not inherit the flags of the program, because some, such as `--eval`, do not work in a thread. The warning
    // is disabled because the main thread has already shown it.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // The thread has no other environment variable. Without the compile cache, it takes ten times as long to start.
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
  });
  const [opening]: WritingAnswer[] = await once(worker, 'message');
  if (opening !== undefined && 'notDone' in opening) throw unpackError(opening.notDone);
  worker.unref();

  let receive: (answer: WritingAnswer) => void = () => undefined;
  worker.on('error', (error) => {
    throw error;
  });
  worker.on('message', (answer: WritingAnswer) => {
    worker.unref();
    receive(answer);
  });

  return {
    send(jobs, onAnswer) {
      receive = onAnswer;
      worker.ref();
      worker.postMessage(jobs);
    },
    async close() {
      const ended = once(worker, 'exit');
      worker.ref();
      worker.postMessage(null);
      await ended;
    },
  };
}
