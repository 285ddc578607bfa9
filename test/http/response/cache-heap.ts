import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { Registry } from 'prom-client';
import { makeTaggedAnswer } from '../../../src/http/response/answer.ts';
import { createResponseCache } from '../../../src/http/response/response-cache.ts';

/**
 * Caches 50,000 answers, finds the next version of the store and posts the heap use. It runs in its own thread, so that
 * nothing else uses the heap.
 */
export interface CacheHeapWork {
  readonly prefix: string;
  readonly text: string;
  readonly bytesMax: number;
}

/** Heap use in bytes: the peak while the answers were cached, and what was left at the next version. */
export interface CacheHeap {
  readonly most: number;
  readonly left: number;
}

const { prefix, text, bytesMax } = workerData as CacheHeapWork;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const cache = createResponseCache({ read: () => null }, new Registry(), bytesMax);

function readHeapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const before = readHeapBytes();
let most = 0;
cache.find(prefix, '1');
for (let number = 1; number <= 50_000; number += 1) {
  const target = Buffer.from(`${prefix}${number}`).toString();
  cache.keep(target, makeTaggedAnswer(text), '1');
  if (number % 500 === 0) most = Math.max(most, readHeapBytes() - before);
}
cache.find(prefix, '2');
const heap: CacheHeap = { most, left: readHeapBytes() - before };
parentPort?.postMessage(heap);
