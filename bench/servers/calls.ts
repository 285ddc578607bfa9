/**
 * What the catalogue's operations cost without HTTP, in microseconds a call: a JSON object on standard output.
 * Arguments: the store, and how many animals it holds.
 */
import type { Soon } from '../../src/soon.ts';
import { openStore } from '../../src/store.ts';
import { randomIds } from '../scenarios.ts';
import { spreadOf } from '../statistics.ts';

const [, , storeFile = '', animals = '0'] = process.argv;
const { catalogue, close } = await openStore(
  { databaseUrl: `sqlite:${storeFile}`, environment: 'production' },
  Date.now,
);
const ids = randomIds(Number(animals)).map(BigInt);
const batches = 9;
const callsPerBatch = 1_000;
const addsAtOnce = 64;

/** The median over batches, the first one being for warming up. */
async function time(calls: number, batch: () => Promise<unknown>): Promise<number> {
  const timesUs: number[] = [];
  for (let index = 0; index <= batches; index += 1) {
    const startedMs = performance.now();
    await batch();
    timesUs.push(((performance.now() - startedMs) * 1_000) / calls);
  }
  return spreadOf(timesUs.slice(1)).median;
}

let turn = 0;
function nextId(): bigint {
  turn += 1;
  return ids[turn % ids.length] ?? 1n;
}

async function repeat(call: () => Soon<unknown>): Promise<void> {
  for (let index = 0; index < callsPerBatch; index += 1) await call();
}

const page = { limit: 20, status: null, newestId: null };
const newPet = { name: 'Rex', categoryId: 1n };
const result = {
  first: await time(callsPerBatch, () => repeat(() => catalogue.list(page))),
  deep: await time(callsPerBatch, () => repeat(() => catalogue.list({ ...page, newestId: nextId() }))),
  deepOfStatus: await time(callsPerBatch, () =>
    repeat(() => catalogue.list({ ...page, status: 'sold', newestId: nextId() })),
  ),
  get: await time(callsPerBatch, () => repeat(() => catalogue.get(nextId()))),
  add: await time(addsAtOnce, () =>
    Promise.all(Array.from({ length: addsAtOnce }, () => catalogue.add(newPet, null))),
  ),
};
await close();
process.stdout.write(JSON.stringify(result));
