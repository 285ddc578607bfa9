import { getCompileCacheDir } from 'node:module';
import { parentPort, Worker } from 'node:worker_threads';
import { type PackedError, packError, unpackError } from './packed-error.ts';

/** A message to a thread: a store to open, a task, or null to close the store. */
type Message = { readonly path: string } | { readonly task: unknown } | null;

/** The reply to a message. `notDone` means that nothing was done. */
type Reply = { readonly notDone: PackedError } | { readonly result: unknown };

/** Sends a message to a thread and returns the result. Throws the error if nothing was done. */
type Ask = (message: Message) => Promise<unknown>;

/** A thread that works on one store. Wait for each call before the next call. */
export type StoreThread<Task, Result> = Awaited<ReturnType<typeof startThread<Task, Result>>>;

/** Threads without a store, by their entry. A thread takes ten times as long to start as a store to open. */
const idle = new Map<string, Ask[]>();

/**
 * Opens the store at `path` on a thread, whose module `entry` calls `serveTasks`. The thread keeps the process alive only
 * while it works, and an error that ends it ends the process. Throws if the store cannot be opened.
 */
export async function startThread<Task, Result>(path: string, entry: URL) {
  const threads = idle.get(entry.href) ?? [];
  idle.set(entry.href, threads);
  const ask = threads.pop() ?? createThread(entry);
  try {
    await ask({ path });
  } catch (error) {
    threads.push(ask);
    throw error;
  }
  return {
    /** Does a task. Throws if nothing was done. */
    run: (task: Task) => ask({ task }) as Promise<Result>,
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
  let receive: (reply: Reply) => void = () => undefined;
  worker.on('message', (reply: Reply) => {
    worker.unref();
    receive(reply);
  });
  worker.on('error', (error) => {
    throw error;
  });
  return async (message) => {
    const reply = await new Promise<Reply>((resolve) => {
      receive = resolve;
      worker.ref();
      worker.postMessage(message);
    });
    if ('notDone' in reply) throw unpackError(reply.notDone);
    return reply.result;
  };
}

/** An open store in its thread. */
interface Opened<Task> {
  run(task: Task): unknown;
  close(): void;
}

/** Serves one store after another in this thread. The entry of the thread calls it once. */
export function serveTasks<Task>(open: (path: string) => Promise<Opened<Task>>): void {
  if (parentPort === null) throw new Error('tasks are served only in a worker thread');
  const port = parentPort;
  let store: Opened<Task> | undefined;

  async function handle(message: Message): Promise<unknown> {
    if (message !== null && 'task' in message) return store?.run(message.task as Task);
    store?.close();
    store = message === null ? undefined : await open(message.path);
    return null;
  }

  async function reply(message: Message): Promise<Reply> {
    try {
      return { result: await handle(message) };
    } catch (error) {
      return { notDone: packError(error) };
    }
  }
  port.on('message', async (message: Message) => port.postMessage(await reply(message)));
}
