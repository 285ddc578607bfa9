/** The result of reading a key. */
export interface Remembered<T> {
  readonly value: T;
  readonly accountId: bigint;
  readonly readAtMs: number;
  readonly staleAtMs: number;
}

/** The results of reading keys, by the text of the key. */
export interface RememberedKeys<T> {
  /**
   * Returns the remembered result. Null if there is no result, or if the result is stale. Also null if the clock was
   * set back to a time before the read.
   */
  find(text: string, nowMs: number): T | null;
  put(text: string, entry: Remembered<T>): void;
  /** Drops the keys of an account. Null drops all keys. */
  drop(accountId: bigint | null): void;
}

/** Maximum number of remembered keys, each of about 500 bytes. Evicts the key whose last read is the oldest. */
export const rememberedKeysMax = 20_000;

/** Creates an empty memory for at most `keysMax` keys. */
export function createRememberedKeys<T>(keysMax: number): RememberedKeys<T> {
  const entries = new Map<string, Remembered<T>>();
  /** The key texts of each account, so that dropping an account is fast. */
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
