import { type Answer, type Call, readAnswer } from './answer.ts';
import { type AttemptResult, reportAttempt } from './debug.ts';
import { AnimalStoreError } from './errors.ts';
import { exchange, methodOf } from './exchange.ts';
import { openMsMax, planWaitMs, secretOperations } from './retry.ts';
import type { Settings } from './settings.ts';
import { readReason, wait } from './waiting.ts';

/** The options of every call. */
export interface CallOptions {
  /**
   * Aborts the call immediately, even while the client waits for a retry. The call rejects with the reason of the
   * signal.
   */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of one attempt, in ms. Default: that of the client. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries, 0 to 100. Default: that of the client. */
  readonly maxRetries?: number | undefined;
}

/** Sends a request, with retries, and returns the successful response. */
export type Transport = <T>(call: Call<T>, options: CallOptions) => Promise<Answer<T>>;

/**
 * Creates a transport that sends at most 1 + `maxRetries` requests for a call. Throws AnimalStoreError. If the signal
 * is aborted, throws its reason.
 */
export function createTransport(usual: Settings): Transport {
  return async (call, { signal, timeoutMs = usual.timeoutMs, maxRetries = usual.maxRetries }) => {
    if (signal?.aborted) throw readReason(signal);
    const settings = { ...usual, timeoutMs };
    const isAdding = methodOf(call) === 'POST';
    const isOnce = call.isOnce || (call.operation !== null && secretOperations.has(call.operation));
    let openSinceMs = Number.POSITIVE_INFINITY;
    for (let attempts = 1; ; attempts += 1) {
      const sentAtMs = Date.now();
      try {
        return await sendOnce(settings, call, attempts, signal);
      } catch (error) {
        if (!(error instanceof AnimalStoreError) || attempts > maxRetries) throw error;
        const waitMs = planWaitMs(error, settings.maxWaitMs, Math.random());
        if (waitMs === null || (isOnce && error.status !== 429)) throw error;
        settings.onRetry({ operation: call.operation, attempts, waitMs, error });
        await wait(waitMs, signal);
        if (error.status !== 429) openSinceMs = Math.min(openSinceMs, sentAtMs);
        // The wait may have taken much longer than `waitMs`, because the machine was asleep.
        if (isAdding && Date.now() - openSinceMs > openMsMax) throw error;
      }
    }
  };
}

async function sendOnce<T>(
  settings: Settings,
  call: Call<T>,
  attempts: number,
  signal: AbortSignal | undefined,
): Promise<Answer<T>> {
  const startedAtMs = Date.now();
  const report = (result: AttemptResult) => reportAttempt(settings, call, attempts, startedAtMs, result);
  try {
    const incoming = await exchange(settings, call, attempts, signal);
    settings.deprecations(call.operation, incoming.response.headers);
    const answer = readAnswer(settings, call, incoming, attempts);
    report(answer.response);
    return answer;
  } catch (error) {
    if (error instanceof AnimalStoreError) report({ ...error, error });
    throw error;
  }
}
