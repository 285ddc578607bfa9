import { hourMs } from '../clock.ts';

/** How long a key stays known after it was found valid (contract section 6). */
export const knownMs = hourMs;
/** The most known keys, each in about 150 bytes. Beyond it, the key that was read longest ago is forgotten. */
export const knownKeysMax = 100_000;

/** The keys that this instance has found valid. Unknown keys cannot fill it. */
export interface KnownKeys {
  /** Records the result of reading a key. */
  note(text: string, isValid: boolean, nowMs: number): void;
  /** Whether the key was found valid within `knownMs` and not refused since. */
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
