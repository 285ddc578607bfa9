import type { Registry } from 'prom-client';
import { expose } from '../../observability/metrics.ts';
import type { Soon } from '../../soon.ts';
import type { Route } from '../route.ts';
import type { Answer } from './answer.ts';

/** Decides whether the data behind a cached response has changed. */
export interface Freshness<Dependency, Version extends object> {
  /** Returns the current version of the store. It includes everything that was committed before the request arrived. */
  read(): Soon<Version>;
  /**
   * Returns a version of the store. Every response that is made from now on contains this version or a newer one.
   * Returns null if no such version is known.
   */
  latest(): Version | null;
  /** True if `dependency` has not changed between the two versions. */
  isFresh(dependency: Dependency, since: Version, now: Version): boolean;
}

/** Caches responses to GET requests, so that most of these requests need neither a query nor serialisation. */
export interface ResponseCache<Dependency, Version extends object> {
  /** Returns the cached response if it is fresh, otherwise null. */
  find(route: Route, key: CacheKey): Soon<Answer | null>;
  /**
   * Returns the version for `keep`. Call it before making the response. If the version were read later, a change in
   * between would go unnoticed.
   */
  readVersion(): Version | null;
  /** Stores a response that was made at `version`. Does nothing if `version` is null. */
  keep(route: Route, key: CacheKey, answer: Answer, dependency: Dependency, version: Version | null): void;
}

/**
 * Identifies a request to a route by its path parameter and query. A path parameter of at most 9 digits without a query
 * becomes a number.
 */
export type CacheKey = string | number;

/** A cache that stores nothing. */
export const noCache: ResponseCache<never, never> = {
  find: () => null,
  readVersion: () => null,
  keep: () => {},
};

/** Maximum memory in bytes of all cached responses together. */
export const cacheBytesMax = 128 * 2 ** 20;
/** Upper bound in bytes for the memory of an entry without its strings. */
const entryBytes = 520;
/** Upper bound in bytes for the memory of a string key without its characters. */
const keyTextBytes = 32;

interface Entry<Dependency, Version> {
  readonly answer: Answer;
  readonly dependency: Dependency;
  version: Version;
}

type Generation<Dependency, Version> = Map<Route, Map<CacheKey, Entry<Dependency, Version>>>;

/** Creates a cache that uses at most `bytesMax` of memory. Adds the metric `cached_answers_total` to `registry`. */
export function createResponseCache<Dependency, Version extends object>(
  freshness: Freshness<Dependency, Version>,
  registry: Registry,
  bytesMax = cacheBytesMax,
): ResponseCache<Dependency, Version> {
  const kept = createGenerations<Dependency, Version>(bytesMax);
  const counts = { memory: 0, store: 0 };
  exposeCounts(registry, counts);

  function readVersion(): Version | null {
    try {
      return freshness.latest();
    } catch {
      return null;
    }
  }

  function isFresh(entry: Entry<Dependency, Version>, now: Version): boolean {
    if (entry.version === now) return true;
    if (!freshness.isFresh(entry.dependency, entry.version, now)) return false;
    entry.version = now;
    return true;
  }

  function use(entry: Entry<Dependency, Version>, now: Version): Answer | null {
    if (!isFresh(entry, now)) return null;
    counts.memory += 1;
    return entry.answer;
  }

  return {
    // If the store fails here, the request is handled without the cache. If the store fails again, the client gets the
    // error.
    find(route, key) {
      const entry = kept.find(route, key);
      if (entry === undefined) return null;
      try {
        const now = freshness.read();
        return now instanceof Promise
          ? now.then(
              (version) => use(entry, version),
              () => null,
            )
          : use(entry, now);
      } catch {
        return null;
      }
    },
    readVersion,
    keep(route, key, answer, dependency, version) {
      counts.store += 1;
      if (version !== null) kept.put(route, key, { answer, dependency, version });
    },
  };
}

/**
 * Bounds the memory with two generations. A response that is found in the old generation moves to the young generation.
 * When the young generation exceeds half of `bytesMax`, the old generation is dropped and the young generation takes
 * its place.
 */
function createGenerations<Dependency, Version>(bytesMax: number) {
  type Kept = Entry<Dependency, Version>;
  let young: Generation<Dependency, Version> = new Map();
  let old: Generation<Dependency, Version> = new Map();
  let youngBytes = 0;

  function put(route: Route, key: CacheKey, entry: Kept): void {
    let entries = young.get(route);
    if (entries === undefined) {
      entries = new Map();
      young.set(route, entries);
    }
    const previous = entries.get(key);
    if (previous !== undefined) youngBytes -= countBytes(key, previous.answer);
    entries.set(key, entry);
    youngBytes += countBytes(key, entry.answer);
    if (youngBytes <= bytesMax / 2) return;
    old = young;
    young = new Map();
    youngBytes = 0;
  }

  function find(route: Route, key: CacheKey): Kept | undefined {
    const entry = young.get(route)?.get(key);
    if (entry !== undefined) return entry;
    const aged = old.get(route)?.get(key);
    if (aged !== undefined) put(route, key, aged);
    return aged;
  }

  return { find, put };
}

function exposeCounts(registry: Registry, counts: Readonly<Record<string, number>>): void {
  expose(
    registry,
    {
      name: 'cached_answers_total',
      type: 'counter',
      help: 'Responses of cached operations, by source: memory or store.',
    },
    () => Object.entries(counts).map(([source, value]) => ({ labels: { source }, value })),
  );
}

/**
 * Estimates the memory of an entry in bytes. V8 stores a string with characters outside Latin-1 in two bytes per
 * character.
 */
function countBytes(key: CacheKey, { body, lines, bodyLines }: Answer): number {
  const keyBytes = typeof key === 'string' ? keyTextBytes + key.length : 0;
  const text = typeof body === 'string' ? body : '';
  const bodyBytes = (Buffer.byteLength(text) > text.length ? 2 : 1) * text.length;
  return entryBytes + keyBytes + bodyBytes + lines.length + bodyLines.length;
}
