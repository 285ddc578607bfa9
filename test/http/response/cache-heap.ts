import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { createReadyAnswerMaker, createReadyAnswers } from '../../../src/http/ready-answers.ts';

/**
 * For a thread of its own, as its heap then has nothing else that comes and goes: keeps 50,000 answers ready, each of
 * another state of the store, and tells the most bytes that they ever hold of the heap.
 */
export interface ReadyHeapWork {
  readonly path: string;
  readonly text: string;
  readonly bytesMax: number;
}

const { path, text, bytesMax } = workerData as ReadyHeapWork;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const makeAnswer = createReadyAnswerMaker('listPets');
const ready = createReadyAnswers(() => null, Date.now, bytesMax);

function readHeapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const before = readHeapBytes();
let most = 0;
for (let number = 1; number <= 50_000; number += 1) {
  const stamp = { newestId: BigInt(number), edits: BigInt(bytesMax) };
  ready.keep(`${path}${number}`, makeAnswer(text), { until: 'edited' }, stamp);
  if (number % 500 === 0) most = Math.max(most, readHeapBytes() - before);
}
ready.find(path);
parentPort?.postMessage(most);
