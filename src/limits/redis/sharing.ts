import type { Clock } from '../../clock.ts';
import { redactKeys } from '../../observability/redact-keys.ts';
import type { RedisCounters } from './redis-counters.ts';

/** Whether this instance counts together with the others, and since when; where it does not, why. */
export type Sharing =
  | { readonly mode: 'shared'; readonly sinceMs: number }
  | { readonly mode: 'alone'; readonly sinceMs: number; readonly reason: string };

/** Whose request ended the sharing: the fault may lie with one node of a cluster. */
export interface Culprit {
  readonly subject: string;
  readonly keyId: string | null;
}

/** Leaves the shared counters when a call fails, and goes back to them when a probe succeeds. */
export interface SharingWatch {
  now(): Sharing;
  /** Counts alone from now on. */
  leave(error: unknown, culprit: Culprit): void;
  /** Tries now to share. Never fails. */
  probe(): Promise<void>;
  /** Counts alone from now on, for good. */
  close(): void;
}

/** Probes `shared` every `probeMs` until it is closed; alone until the first probe succeeds. */
export function watchSharing(options: {
  readonly shared: RedisCounters;
  readonly clock: Clock;
  readonly probeMs: number;
  /** Called before the first count alone. */
  readonly onLeave: () => void;
  /** Not called any more once it is closed. */
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
