import { LRUCache } from 'lru-cache';
import type { Registry } from 'prom-client';
import { expose, labelled } from '../../observability/metrics.ts';
import type { Soon } from '../../promises.ts';
import type { Version } from '../../storage/content-version.ts';
import type { Answer } from './answer.ts';

export type ResponseCache = ReturnType<typeof createResponseCache>;

/** Maximum memory in bytes of all cached responses together. */
export const cacheBytesMax = 128 * 2 ** 20;
/** Upper bound in bytes for the memory of an entry without the characters of its texts. */
const entryBytes = 640;
/** Upper bound in bytes for the memory of a header name or value without its characters. */
const headerTextBytes = 32;

/** Caches GETs by target for one version of the animals. Beyond `bytesMax`, the least recently used goes. */
export function createResponseCache(
  { read }: Pick<Version, 'read'>,
  registry: Registry,
  bytesMax = cacheBytesMax,
) {
  const options = { maxSize: bytesMax, sizeCalculation: countBytes };
  let entries = new LRUCache<string, Answer>(options);
  let version: string | null = null;
  const counts = { memory: 0, store: 0 };
  const help = 'Responses of cached operations, by source: memory or store.';
  expose(registry, 'counter', 'cached_answers_total', help, () => labelled('source', Object.entries(counts)));

  return {
    /** Returns the version of everything that was committed before the call. Null if nothing may be cached now. */
    readVersion: (): Soon<string | null> => read(),
    /** Returns the answer that was kept at the version `now`, or null. A version other than the last one drops all. */
    find(target: string, now: string | null): Answer | null {
      if (now === null) return null;
      if (now !== version) {
        // Without `clear`, an old cache that is garbage keeps its answers in memory until V8 collects the old generation.
        entries.clear();
        entries = new LRUCache(options);
        version = now;
      }
      const answer = entries.get(target) ?? null;
      if (answer !== null) counts.memory += 1;
      return answer;
    },
    /** Stores a response if `madeAt`, the version that was read before it was made, is still the last one. */
    keep(target: string, answer: Answer, madeAt: string | null): void {
      counts.store += 1;
      if (madeAt !== null && madeAt === version) entries.set(target, answer);
    },
  };
}

/** Estimates the memory of an entry. A body is a string of bytes, and V8 stores each in one byte. */
function countBytes({ body, headers, bodyHeaders }: Answer, target: string): number {
  const headerBytes = [...headers, ...bodyHeaders].reduce(
    (sum, text) => sum + headerTextBytes + text.length,
    0,
  );
  return entryBytes + target.length + (body?.length ?? 0) + headerBytes;
}
