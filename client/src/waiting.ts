/** Resolves after a time. Rejects with the signal's reason as soon as that is aborted. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A signal that aborts when another one does or when the time is over. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether the time is over. */
  isOver(): boolean;
  /** Releases the timer and the other signal. Call it when the deadline no longer matters. */
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
