import { hourMs } from '../clock.ts';

/** How long a key stays known after it was found valid (contract section 6). */
export const knownMs = hourMs;
/** How many keys are known at most, each in about 150 bytes; beyond it the one read longest ago is forgotten. */
export const knownKeysMax = 100_000;

/** The keys that this instance has found valid: only they and their number fill it, whatever strangers send. */
export interface KnownKeys {
  /** Notes what a read of a key found. */
  note(text: string, isValid: boolean, nowMs: number): void;
  /** Whether the key was found valid within `knownMs`, and its last read did not refuse it. */
  has(text: string, nowMs: number): boolean;
}

/** No key is known yet. */
export function createKnownKeys(keysMax = knownKeysMax): KnownKeys {
  const validAtMs = new Map<string, number>();

  return {
    note(text, isValid, nowMs) {
      validAtMs.delete(text);
      if (!isValid) return;
      validAtMs.set(text, nowMs);
      if (validAtMs.size <= keysMax) return;
      const [oldest] = validAtMs.keys();
      if (oldest !== undefined) validAtMs.delete(oldest);
    },

    has(text, nowMs) {
      const atMs = validAtMs.get(text);
      return atMs !== undefined && nowMs < atMs + knownMs;
    },
  };
}
