/** What is remembered of a key, for as long as it may be. */
export interface Remembered<T> {
  readonly value: T;
  readonly accountId: bigint;
  readonly readAtMs: number;
  /** From then on the key must be read again. */
  readonly staleAtMs: number;
}

/** What was read of keys, by their text. */
export interface RememberedKeys<T> {
  /** What is remembered of a key; null if it must be read, or if the clock was set back behind its reading. */
  find(text: string, nowMs: number): T | null;
  put(text: string, entry: Remembered<T>): void;
  /** Drops the keys of an account, or all where it is null. */
  drop(accountId: bigint | null): void;
}

/** How many keys are remembered at most, each in about 500 bytes; the one read first is forgotten first. */
export const rememberedKeysMax = 20_000;

/** An empty memory of at most `keysMax` keys. */
export function createRememberedKeys<T>(keysMax: number): RememberedKeys<T> {
  const entries = new Map<string, Remembered<T>>();
  /** By account, as one change of many accounts is told of account by account. */
  const textsOf = new Map<bigint, Set<string>>();

  function dropOne(text: string): void {
    const entry = entries.get(text);
    if (entry === undefined) return;
    entries.delete(text);
    const texts = textsOf.get(entry.accountId);
    texts?.delete(text);
    if (texts?.size === 0) textsOf.delete(entry.accountId);
  }

  return {
    find(text, nowMs) {
      const entry = entries.get(text);
      const isFresh = entry !== undefined && nowMs < entry.staleAtMs && nowMs >= entry.readAtMs;
      return isFresh ? entry.value : null;
    },

    put(text, entry) {
      dropOne(text);
      entries.set(text, entry);
      const texts = textsOf.get(entry.accountId);
      if (texts === undefined) textsOf.set(entry.accountId, new Set([text]));
      else texts.add(text);
      if (entries.size <= keysMax) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) dropOne(oldest);
    },

    drop(accountId) {
      const texts = accountId === null ? entries.keys() : (textsOf.get(accountId) ?? []);
      for (const text of texts) dropOne(text);
    },
  };
}
