import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openRaw } from '../../test/support/raw-http.ts';
import { createEmbeddedStore, killGroup } from '../embedded-store.ts';
import { createPosts, type Posts } from '../kill/posts.ts';
import { formatRequest, takeReplay } from '../kill/writers.ts';
import { createRandom } from '../random.ts';
import type { Outcome, Scenario, TortureContext } from '../scenario.ts';
import { createDisk } from './disk.ts';
import { type DiskEvent, toDiskEvents } from './disk-events.ts';
import { writeImage } from './image.ts';
import { addAnimals } from './load.ts';
import { chooseMoments, orderByEffect } from './moments.ts';
import { type Promises, takePromises } from './promises.ts';
import { readSystemCalls, requireStrace, traceInto } from './system-calls.ts';
import { requireStore } from './verdict.ts';

const animalsAtFullScale = 2_000;
const imagesAtFullScale = 2_000;
const startsAtFullScale = 10;

/** The path of the store on the traced disk. */
const storeName = 'data/store.db';

/** The recorded events of one run. */
interface Recording {
  readonly root: string;
  readonly key: string;
  readonly posts: Posts;
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
  const posts = createPosts(context.seed);
  const animals = Math.round(animalsAtFullScale * context.scale);

  const { key } = await store.createKey();
  const service = { ...(await store.start()), key };
  await Promise.all([addAnimals(context, service, posts, animals), store.createKey()]);
  const { code } = await service.end('SIGTERM');
  if (code !== 0) throw new Error(`the service ended with ${code}: ${service.readLog()}`);

  const events = orderByEffect(toDiskEvents(await readSystemCalls(traces), root));
  rmSync(traces, { recursive: true });
  context.log(`${events.length} changes, syncs and answers recorded`);
  return { root, key, posts, events };
}

/** Simulates a power loss at many moments and checks each image of the disk against the promises up to that moment. */
async function replay(context: TortureContext, recording: Recording): Promise<Outcome> {
  const { root, posts, events } = recording;
  const random = createRandom(context.seed);
  const promises: Promises = { animals: new Map(), keyIds: new Set() };
  const disk = createDisk();
  const moments = chooseMoments(events, Math.round(imagesAtFullScale * context.scale), random);
  const everyStart = Math.ceil(moments.length / Math.max(1, startsAtFullScale * context.scale));
  const folder = join(context.folder, 'image');
  let taken = 0;
  function takeUpTo(moment: number): void {
    for (const event of events.slice(taken, moment)) {
      disk.take(event);
      takePromises(promises, event, posts);
    }
    taken = moment;
  }
  for (const [image, moment] of moments.entries()) {
    takeUpTo(moment);
    writeImage(disk, root, folder, random);
    requireStore(join(folder, storeName), posts, promises);
    if ((image + 1) % everyStart === 0) await requireService(context, folder, recording, promises);
    rmSync(folder, { recursive: true });
    if ((image + 1) % 250 === 0) context.log(`${image + 1} images`);
  }
  takeUpTo(events.length);
  requireAllTraced(promises, posts);
  return describe(moments.length, events, promises);
}

/**
 * Requires that a service starts on the image, and that it repeats the first answer to each add that had an
 * Idempotency-Key.
 */
async function requireService(
  context: TortureContext,
  folder: string,
  { key, posts }: Recording,
  promises: Promises,
): Promise<void> {
  const service = await createEmbeddedStore(context, join(folder, storeName)).start();
  const connection = await openRaw(context, service.url);
  for (const post of promises.animals.keys()) {
    if (post.idempotencyKey === null) continue;
    connection.send(formatRequest({ url: service.url, key }, post));
    takeReplay(posts, post, await connection.read());
  }
  killGroup(service.child);
  await service.end();
}

/** Throws if the trace lacks an answer that a client received, because an incomplete trace proves nothing. */
function requireAllTraced({ animals }: Promises, posts: Posts): void {
  for (const post of posts.byName.values())
    if (post.answeredId !== null && animals.get(post) !== post.answeredId)
      throw new Error(`the answer for ${post.name} is not in the trace`);
}

function describe(images: number, events: readonly DiskEvent[], { animals, keyIds }: Promises): Outcome {
  const count = (kind: DiskEvent['kind']) => events.filter((event) => event.kind === kind).length;
  return {
    done: `Power loss at ${images} moments of a run with ${count('write')} writes and ${count('sync')} syncs; unsynced writes were dropped, torn at 512 bytes or reordered`,
    seen: 'The store opened undamaged each time; repeated adds with a key got the same answer',
    lost: `None of ${animals.size} answered adds and ${keyIds.size} keys`,
    well: 'At the next start',
    figures: { images, writes: count('write'), syncs: count('sync'), animals: animals.size },
  };
}
