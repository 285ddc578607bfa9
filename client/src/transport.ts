import { type Answer, type Call, readAnswer } from './answer.ts';
import { AnimalStoreError } from './errors.ts';
import { exchange } from './exchange.ts';
import { operations } from './operations.ts';
import { openMsMax, planWaitMs } from './retry.ts';
import type { Settings } from './settings.ts';
import { wait } from './waiting.ts';

/** What every call takes. */
export interface CallOptions {
  /** Ends the call as soon as it is aborted, also while it waits; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Sends a call until it is answered or there is no use in going on. */
export type Transport = <T>(call: Call<T>, options: CallOptions) => Promise<Answer<T>>;

/** Throws AnimalStoreError, or the signal's reason. At most 1 + `maxRetries` requests are sent for a call. */
export function createTransport(settings: Settings): Transport {
  async function sendOnce<T>(call: Call<T>, attempts: number, signal: AbortSignal | undefined) {
    const incoming = await exchange(settings, call, attempts, signal);
    settings.deprecations(call.operation, incoming.response.headers);
    return readAnswer(settings, call, incoming, attempts);
  }

  return async (call, { signal }) => {
    signal?.throwIfAborted();
    const isAdding = operations[call.operation].method === 'POST';
    let openSinceMs = Number.POSITIVE_INFINITY;
    for (let attempts = 1; ; attempts += 1) {
      const sentAtMs = Date.now();
      try {
        return await sendOnce(call, attempts, signal);
      } catch (error) {
        if (!(error instanceof AnimalStoreError) || attempts > settings.maxRetries) throw error;
        const waitMs = planWaitMs(error, settings.maxWaitMs, Math.random());
        if (waitMs === null) throw error;
        settings.onRetry({ operation: call.operation, attempts, waitMs, error });
        await wait(waitMs, signal);
        if (error.status !== 429) openSinceMs = Math.min(openSinceMs, sentAtMs);
        // The machine may have slept meanwhile.
        if (isAdding && Date.now() - openSinceMs > openMsMax) throw error;
      }
    }
  };
}
