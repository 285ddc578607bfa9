import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { Registry } from 'prom-client';
import { makeTaggedAnswer } from '../../../src/http/response/answer.ts';
import { createResponseCache } from '../../../src/http/response/response-cache.ts';
import type { Route } from '../../../src/http/route.ts';

/**
 * Caches 50,000 answers, each with a different version of the store, and posts their peak heap use in bytes. It runs in
 * its own thread, so that nothing else uses the heap. If `prefix` is null, the cache keys are numbers.
 */
export interface CacheHeapWork {
  readonly prefix: string | null;
  readonly text: string;
  readonly bytesMax: number;
}

const { prefix, text, bytesMax } = workerData as CacheHeapWork;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const route = {} as Route;
const freshness = { read: () => ({}), latest: () => null, isFresh: () => true };
const cache = createResponseCache<object, object>(freshness, new Registry(), bytesMax);

function readHeapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const before = readHeapBytes();
let most = 0;
for (let number = 1; number <= 50_000; number += 1) {
  const version = { newestId: BigInt(number), edits: BigInt(bytesMax) };
  const dependency = { newestId: null, oldestId: BigInt(number) };
  const key = prefix === null ? number : `${prefix}${number}`;
  cache.keep(route, key, makeTaggedAnswer(text), dependency, version);
  if (number % 500 === 0) most = Math.max(most, readHeapBytes() - before);
}
cache.find(route, prefix ?? 1);
parentPort?.postMessage(most);
