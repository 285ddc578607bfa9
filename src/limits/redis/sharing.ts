import type { Clock } from '../../clock.ts';
import { redactKeys } from '../../observability/redact-keys.ts';
import type { RedisCounters } from './redis-counters.ts';

/** Whether this instance counts together with the others, and since when. If not, why. */
export type Sharing =
  | { readonly mode: 'shared'; readonly sinceMs: number }
  | { readonly mode: 'alone'; readonly sinceMs: number; readonly reason: string };

/** The request that failed. Probes use its keys, because only one node of a cluster may be down. */
export interface Culprit {
  readonly subject: string;
  readonly keyId: string | null;
}

/** Leaves the shared counters when a call fails, and returns to them when a probe succeeds. */
export interface SharingWatch {
  now(): Sharing;
  /** Counts alone from now on. */
  leave(error: unknown, culprit: Culprit): void;
  /** Probes now. Never fails. */
  probe(): Promise<void>;
  /** Counts alone for good. */
  close(): void;
}

/** Probes `shared` every `probeMs` until it is closed. Alone until the first probe succeeds. */
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
  let sharing: Sharing = { mode: 'alone', sinceMs: clock(), reason: 'not tried yet' };
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
