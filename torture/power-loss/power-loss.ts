import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { amplePlan, type MadeKey } from '../../test/support/instances.ts';
import { createRandom } from '../random.ts';
import { type Outcome, type Scenario, share, type TortureContext } from '../scenario.ts';
import { startServices } from '../services.ts';
import { createEmbeddedStore, type EmbeddedStore } from '../store.ts';
import { createWriters, type Writers } from '../writers.ts';
import { createDisk } from './disk.ts';
import { type DiskEvent, toDiskEvents } from './disk-events.ts';
import { writeImage } from './image.ts';
import { chooseMoments, orderByEffect } from './moments.ts';
import { readSystemCalls, requireStrace, traceInto } from './system-calls.ts';
import { type Promises, requireStore, takePromises } from './verdict.ts';

const answersAtFullScale = 4_000;
const imagesAtFullScale = 2_000;
const startsAtFullScale = 10;
const clients = 8;

/** The path of the store on the traced disk. */
const storeName = 'data/store.db';

/** The recorded events of one run. */
interface Recording {
  readonly root: string;
  readonly key: string;
  readonly writers: Writers;
  readonly events: readonly DiskEvent[];
}

export const powerLoss: Scenario = createPowerLoss();

/**
 * Creates the scenario. `preload` is the source of a module that each process loads first. A test uses `preload` to
 * break durability and checks that the scenario detects it.
 */
export function createPowerLoss(preload?: string): Scenario {
  return {
    name: 'power-loss',
    title: 'the power fails under load; writes that were not synced are lost, torn or reordered',
    minutes: 15,
    async run(context) {
      requireStrace();
      const recording = await record(context, preload);
      return await replay(context, recording);
    },
  };
}

/** Runs the service on a new store under load until it stops, with a command beside it, and traces every process. */
async function record(context: TortureContext, preload: string | undefined): Promise<Recording> {
  const [root, traces] = [join(context.folder, 'disk'), join(context.folder, 'traces')];
  for (const folder of [root, traces]) mkdirSync(folder);
  const options = { wrapper: traceInto(traces), ...(preload !== undefined && { preload }) };
  const store = createEmbeddedStore(context, join(root, storeName), options);
  const random = createRandom(context.seed);

  await store.run('migrate');
  const key = await createTracedKey(store);
  const services = await startServices(context, random, { ...store, createKey: async () => key }, 1);
  const writers = createWriters(services, random);
  writers.start(clients);
  await Promise.all([writers.untilAnswered(share(answersAtFullScale, context)), createTracedKey(store)]);
  await writers.stop();
  const [service] = services.all;
  const { code, stderr } = (await service?.end('SIGTERM')) ?? { code: null };
  if (code !== 0) throw new Error(`the service ended with ${code}: ${stderr}`);

  const events = orderByEffect(toDiskEvents(await readSystemCalls(traces), root));
  rmSync(traces, { recursive: true });
  context.log(`${events.length} changes, syncs and answers recorded`);
  return { root, key: key.key, writers, events };
}

/** Creates a key in a traced process, because the model of the disk must know each change of the store. */
async function createTracedKey(store: EmbeddedStore): Promise<MadeKey> {
  const create = ['keys', 'create', ...amplePlan, '--scopes', 'all', '--json'];
  const { code, stdout, stderr } = await store.run(...create);
  if (code !== 0) throw new Error(`no key could be created: ${stderr}`);
  return JSON.parse(stdout) as MadeKey;
}

/** Simulates a power loss at many moments and checks each image of the disk against the promises up to that moment. */
async function replay(context: TortureContext, recording: Recording): Promise<Outcome> {
  const { root, writers, events } = recording;
  const random = createRandom(context.seed);
  const promises: Promises = new Set();
  const disk = createDisk();
  const moments = chooseMoments(events, share(imagesAtFullScale, context), random);
  const everyStart = Math.ceil(moments.length / Math.max(1, startsAtFullScale * context.scale));
  const folder = join(context.folder, 'image');
  let taken = 0;
  function takeUpTo(moment: number): void {
    for (const event of events.slice(taken, moment)) {
      disk.take(event);
      takePromises(promises, event);
    }
    taken = moment;
  }
  for (const [image, moment] of moments.entries()) {
    takeUpTo(moment);
    writeImage(disk, root, folder, random);
    await requireStore(join(folder, storeName), promises);
    if ((image + 1) % everyStart === 0) await requireService(context, folder, recording, promises);
    rmSync(folder, { recursive: true });
    if ((image + 1) % 250 === 0) context.log(`${image + 1} images`);
  }
  takeUpTo(events.length);
  requireAllTraced(promises, writers);
  return describe(moments.length, events, promises);
}

/** Requires that a service starts on the image, and repeats the first answer to each request that had a key. */
async function requireService(
  context: TortureContext,
  folder: string,
  { key, writers }: Recording,
  promises: Promises,
): Promise<void> {
  const service = await createEmbeddedStore(context, join(folder, storeName)).start();
  for (const [idempotencyKey, { path, body, answer }] of writers.sent) {
    if (!isPromised(promises, answer)) continue;
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    };
    const again = await (await fetch(service.url + path, { method: 'POST', body, headers })).text();
    if (again !== answer) throw new Error(`${body} was answered with ${answer}, and then with ${again}`);
  }
  await service.end('SIGKILL');
}

function isPromised(promises: Promises, answer: string): boolean {
  const own: Promises = new Set();
  takePromises(own, { kind: 'send', text: answer, beganNs: 0n, endedNs: 0n });
  return own.isSubsetOf(promises);
}

/** Throws if the trace lacks an answer that a client received, because an incomplete trace proves nothing. */
function requireAllTraced(promises: Promises, { sent }: Writers): void {
  for (const { body, answer } of sent.values())
    if (!isPromised(promises, answer)) throw new Error(`the answer to ${body} is not in the trace`);
}

function describe(images: number, events: readonly DiskEvent[], promises: Promises): Outcome {
  const count = (kind: DiskEvent['kind']) => events.filter((event) => event.kind === kind).length;
  return {
    done: `Power loss at ${images} moments of a run with ${count('write')} writes and ${count('sync')} syncs; unsynced writes were dropped, torn at 512 bytes or reordered`,
    seen: 'The store opened undamaged each time; repeated requests with a key got the same answer',
    lost: `None of ${promises.size} answered states of animals, orders and keys`,
    well: 'At the next start',
  };
}
