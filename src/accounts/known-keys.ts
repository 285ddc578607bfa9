import { hourMs } from '../clock.ts';

/** Time in ms for which a key stays known after it was found valid (contract section 6). */
export const knownMs = hourMs;
/** Maximum number of known keys, each of about 150 bytes. Evicts the key whose last read is the oldest. */
export const knownKeysMax = 100_000;

/** The keys that this instance has found valid. Only valid keys are stored, so unknown keys cannot evict known keys. */
export interface KnownKeys {
  /** Records that a key was found valid, or forgets the key if it was refused. */
  note(text: string, isValid: boolean, nowMs: number): void;
  /** True if the key was found valid within `knownMs` and was not refused since. */
  has(text: string, nowMs: number): boolean;
}

/** Creates an empty set of known keys. */
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
