/** Returns the reason of an aborted signal. The signals of some polyfills have no reason. */
export function readReason(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? new DOMException('This operation was aborted', 'AbortError');
}

/** Resolves after `ms`. Rejects with the reason of the signal as soon as the signal is aborted. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(readReason(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A signal that is aborted after a time, or earlier if another signal is aborted. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True if the time has passed. */
  isOver(): boolean;
  /**
   * Stops the timer and removes the listener from the other signal. Call it when the deadline is not needed any longer.
   */
  end(): void;
}

export function startDeadline(ms: number, other: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let over = false;
  const stop = () => controller.abort(other?.reason);
  const timer = setTimeout(() => {
    over = true;
    controller.abort();
  }, ms);
  if (other?.aborted) stop();
  else other?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    isOver: () => over,
    end() {
      clearTimeout(timer);
      other?.removeEventListener('abort', stop);
    },
  };
}
