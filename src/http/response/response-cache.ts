import type { Registry } from 'prom-client';
import { expose } from '../../observability/metrics.ts';
import type { Soon } from '../../soon.ts';
import type { Route } from '../route.ts';
import type { Answer } from './answer.ts';

/** Decides whether the data behind an answer has changed since the answer was made. */
export interface Freshness<Dependency, Version extends object> {
  /** The current version of the store, including everything committed before the request arrived. */
  read(): Soon<Version>;
  /** The oldest version that an answer made from now on can have. Null if it is not known. */
  latest(): Version | null;
  isFresh(dependency: Dependency, since: Version, now: Version): boolean;
}

/** Keeps answers to GET requests, so that most of them need neither a query nor a serialisation. */
export interface ResponseCache<Dependency, Version extends object> {
  /** The kept answer if it is still fresh, or null. */
  find(route: Route, key: CacheKey): Soon<Answer | null>;
  /** The version to keep an answer with. Read it before making the answer. */
  readVersion(): Version | null;
  /** Keeps an answer that was made at a version. Keeps nothing if the version is null. */
  keep(route: Route, key: CacheKey, answer: Answer, dependency: Dependency, version: Version | null): void;
}

/** The query of a request. For an address that ends in a short number, that number. */
export type CacheKey = string | number;

/** Keeps nothing. */
export const noCache: ResponseCache<never, never> = {
  find: () => null,
  readVersion: () => null,
  keep: () => {},
};

/** The most bytes that all kept answers hold together. */
export const cacheBytesMax = 128 * 2 ** 20;
/** The most bytes that an entry holds besides its texts. */
const entryBytes = 520;
/** The most bytes that a text key holds besides its characters. */
const keyTextBytes = 32;

interface Entry<Dependency, Version> {
  readonly answer: Answer;
  readonly dependency: Dependency;
  version: Version;
}

type Generation<Dependency, Version> = Map<Route, Map<CacheKey, Entry<Dependency, Version>>>;

/** Creates a cache that keeps answers until their data changes, within `bytesMax`. `registry` gets its counters. */
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
    // If the store fails here, the request is answered without the cache, and that reports the failure to the client.
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
 * Bounds the memory with two generations. An answer found in the old generation moves to the young one. When the young
 * one holds half of the bound, it replaces the old one.
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
      help: 'Answers of cached operations, from memory or made from the store.',
    },
    () => Object.entries(counts).map(([source, value]) => ({ labels: { source }, value })),
  );
}

/** V8 stores text outside Latin-1 with two bytes a character. */
function countBytes(key: CacheKey, { body, lines, bodyLines }: Answer): number {
  const keyBytes = typeof key === 'string' ? keyTextBytes + key.length : 0;
  const text = typeof body === 'string' ? body : '';
  const bodyBytes = (Buffer.byteLength(text) > text.length ? 2 : 1) * text.length;
  return entryBytes + keyBytes + bodyBytes + lines.length + bodyLines.length;
}
