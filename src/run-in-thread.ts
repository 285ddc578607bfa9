import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';

/**
 * Runs a module in a thread that ends after its work, so that the work holds up no request. The module gets `data` as
 * `workerData` and posts one message, the result. Throws what the module throws.
 */
export async function runInThread<Result>(entry: URL, data: unknown): Promise<Result> {
  const compiled = getCompileCacheDir();
  const worker = new Worker(entry, {
    workerData: data,
    // The flags of the program, such as `--eval`, are not for a thread. Of the environment, it needs only this.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
  });
  worker.unref();
  const [result] = (await once(worker, 'message')) as [Result];
  return result;
}
