import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { Reply, Request, ThreadData } from './messages.ts';
import { unpackError } from './packed-error.ts';

/** The writing thread of a store. */
export interface WritingThread {
  /** Sends one request. `onReply` receives the reply. Wait for the reply before the next request. */
  send(request: Request, onReply: (reply: Reply) => void): void;
  /** Closes the store and ends the thread. */
  close(): Promise<void>;
}

/**
 * Starts the writing thread of the store at `path`. `entry` is the module that calls `serveWrites`. The thread keeps the process alive only while a request runs. An
 * error that ends the thread also ends the process. Throws the error if the store cannot be opened.
 */
export async function startThread(path: string, entry: URL): Promise<WritingThread> {
  const compiled = getCompileCacheDir();
  const worker = new Worker(entry, {
    name: 'sqlite',
    workerData: { path } satisfies ThreadData,
    // Does not inherit the flags of the program, because some, such as `--eval`, do not work in a thread. The warning
    // is disabled because the main thread has already shown it.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // The thread has no other environment variable. Without the compile cache, it takes ten times as long to start.
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
  });
  const [opening]: Reply[] = await once(worker, 'message');
  if (opening !== undefined && 'notDone' in opening) throw unpackError(opening.notDone);
  worker.unref();

  let receive: (reply: Reply) => void = () => undefined;
  worker.on('error', (error) => {
    throw error;
  });
  worker.on('message', (reply: Reply) => {
    worker.unref();
    receive(reply);
  });

  return {
    send(request, onReply) {
      receive = onReply;
      worker.ref();
      worker.postMessage(request);
    },
    async close() {
      const ended = once(worker, 'exit');
      worker.ref();
      worker.postMessage(null);
      await ended;
    },
  };
}
