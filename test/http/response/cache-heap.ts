import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { Registry } from 'prom-client';
import { makeTaggedAnswer } from '../../../src/http/response/answer.ts';
import { createResponseCache } from '../../../src/http/response/response-cache.ts';

/**
 * Caches 50,000 answers, each with a different version of the store, and posts their peak heap use in bytes. It runs in
 * its own thread, so that nothing else uses the heap.
 */
export interface CacheHeapWork {
  readonly prefix: string;
  readonly text: string;
  readonly bytesMax: number;
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
for (let number = 1; number <= 50_000; number += 1) {
  const target = Buffer.from(`${prefix}${number}`).toString();
  cache.keep(target, makeTaggedAnswer(text), `${number} 17 1795692517.826230 00000001`);
  if (number % 500 === 0) most = Math.max(most, readHeapBytes() - before);
}
cache.find(prefix, null);
parentPort?.postMessage(most);
