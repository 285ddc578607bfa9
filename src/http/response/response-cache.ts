import type { Registry } from 'prom-client';
import { expose } from '../../observability/metrics.ts';
import type { Route } from '../route.ts';
import type { Answer } from './answer.ts';

/** Tells whether what an answer depends on has changed since it was made. */
export interface Freshness<Dependency, Version extends object> {
  /** The version of the store now; null if it cannot be told within the call. */
  read(): Version | null;
  isFresh(dependency: Dependency, since: Version, now: Version): boolean;
}

/** Keeps answers to GET requests, so that most of them cost neither a query nor a serialisation. */
export interface ResponseCache<Dependency, Version extends object> {
  /** The answer as it would be made now, or null if it has to be made. */
  find(route: Route, key: CacheKey): Answer | null;
  /** The version to keep an answer under: to be read before the answer is made. */
  readVersion(): Version | null;
  /** Keeps an answer that was made at a version; null keeps nothing. */
  keep(route: Route, key: CacheKey, answer: Answer, dependency: Dependency, version: Version | null): void;
}

/** The query of a request or, for an address that ends in a short number, that number. */
export type CacheKey = string | number;

/** Keeps nothing. */
export const noCache: ResponseCache<never, never> = {
  find: () => null,
  readVersion: () => null,
  keep: () => {},
};

/** The most that the kept answers hold together, in bytes. */
export const cacheBytesMax = 128 * 2 ** 20;
/** What an entry holds besides its texts, at most. */
const entryBytes = 520;
/** What a key that is a text holds besides its characters, at most. */
const keyTextBytes = 32;

interface Entry<Dependency, Version> {
  readonly answer: Answer;
  readonly dependency: Dependency;
  version: Version;
}

type Generation<Dependency, Version> = Map<Route, Map<CacheKey, Entry<Dependency, Version>>>;

/** Keeps answers until what they depend on has changed, within `bytesMax`; shows in `registry` how many were kept. */
export function createResponseCache<Dependency, Version extends object>(
  freshness: Freshness<Dependency, Version>,
  registry: Registry,
  bytesMax = cacheBytesMax,
): ResponseCache<Dependency, Version> {
  const kept = createGenerations<Dependency, Version>(bytesMax);
  const counts = { memory: 0, store: 0 };
  exposeCounts(registry, counts);

  /** A store that fails has its answers made, and fails again where the client learns of it. */
  function readVersion(): Version | null {
    try {
      return freshness.read();
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

  return {
    find(route, key) {
      const entry = kept.find(route, key);
      if (entry === undefined) return null;
      const now = readVersion();
      if (now === null || !isFresh(entry, now)) return null;
      counts.memory += 1;
      return entry.answer;
    },
    readVersion,
    keep(route, key, answer, dependency, version) {
      counts.store += 1;
      if (version !== null) kept.put(route, key, { answer, dependency, version });
    },
  };
}

/**
 * Two generations bound the memory: an answer that is found in the old one moves to the young one. Once the young one
 * holds half of the bound, the old one is dropped and the young one becomes old.
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
    const former = entries.get(key);
    if (former !== undefined) youngBytes -= countBytes(key, former.answer);
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

/** Text outside of Latin-1 takes two bytes a character. */
function countBytes(key: CacheKey, { body, lines, bodyLines }: Answer): number {
  const keyBytes = typeof key === 'string' ? keyTextBytes + key.length : 0;
  const text = typeof body === 'string' ? body : '';
  const bodyBytes = (Buffer.byteLength(text) > text.length ? 2 : 1) * text.length;
  return entryBytes + keyBytes + bodyBytes + lines.length + bodyLines.length;
}
