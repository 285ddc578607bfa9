import type { Clock } from '../../clock.ts';
import { redactKeys } from '../../observability/redact-keys.ts';
import type { RedisCounters } from './redis-counters.ts';

/**
 * How this instance counts: with the shared counters, or alone for the given reason. `sinceMs` is Unix milliseconds.
 */
export type Sharing =
  | { readonly mode: 'shared'; readonly sinceMs: number }
  | { readonly mode: 'alone'; readonly sinceMs: number; readonly reason: string };

/**
 * The request whose call failed. Probes use the keys of this request, because in a cluster only the node of these keys
 * may be down.
 */
export interface Culprit {
  readonly subject: string;
  readonly keyId: string | null;
}

/** Stops using the shared counters when a call fails, and uses them again when a probe succeeds. */
export interface SharingWatch {
  now(): Sharing;
  /** Makes this instance count alone, until a probe succeeds. */
  leave(error: unknown, culprit: Culprit): void;
  /** Probes now. Never fails. */
  probe(): Promise<void>;
  /** Stops the probes. The instance counts alone from then on. */
  close(): void;
}

/** Probes `shared` every `probeMs` until `close`. The instance counts alone until the first probe succeeds. */
export function watchSharing(options: {
  readonly shared: RedisCounters;
  readonly clock: Clock;
  readonly probeMs: number;
  /** Called before the first request is counted alone. */
  readonly onLeave: () => void;
  /** Not called after `close`. */
  readonly onChange: (sharing: Sharing) => void;
}): SharingWatch {
  const { shared, clock, onLeave, onChange } = options;
  let sharing: Sharing = { mode: 'alone', sinceMs: clock(), reason: 'Redis has not been tried yet' };
  let culprit: Culprit = { subject: 'probe', keyId: 'probe' };
  let probing: Promise<void> | null = null;
  let closed = false;
  const timer = setInterval(probe, options.probeMs).unref();

  function leave(error: unknown, whose: Culprit): void {
    const wasShared = sharing.mode === 'shared';
    if (wasShared) {
      culprit = whose;
      onLeave();
    }
    const sinceMs = wasShared ? clock() : sharing.sinceMs;
    sharing = { mode: 'alone', sinceMs, reason: describe(error) };
    if (wasShared && !closed) onChange(sharing);
  }

  async function tryToShare(): Promise<void> {
    try {
      await shared.probe(culprit.subject, culprit.keyId);
      if (sharing.mode === 'shared' || closed) return;
      sharing = { mode: 'shared', sinceMs: clock() };
      onChange(sharing);
    } catch (error) {
      leave(error, culprit);
    }
  }

  function probe(): Promise<void> {
    probing ??= tryToShare().finally(() => {
      probing = null;
    });
    return probing;
  }

  return {
    now: () => sharing,
    leave,
    probe,
    close() {
      closed = true;
      clearInterval(timer);
      leave(new Error('closed'), culprit);
    },
  };
}

function describe(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return redactKeys(message || (code ?? 'unknown'));
}
