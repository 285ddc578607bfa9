import { startLoad } from '../load.ts';
import { type Scenario, Skipped, share, type TortureContext } from '../scenario.ts';
import { createEmbeddedStore, requireWhole, type Store } from '../store.ts';
import { requireHealthy, startUnderLoad, type UnderLoad } from '../under-load.ts';
import { buildSlowDisk, type SlowDisk } from './slow-disk.ts';

const hangMs = 25_000;

async function start(context: TortureContext) {
  const disk = buildSlowDisk(context.folder);
  if ('problem' in disk) throw new Skipped(disk.problem);
  const store = createEmbeddedStore(context, `${context.folder}/store.db`, { settings: disk.settings });
  return { disk, loaded: await startUnderLoad(context, store) };
}

/** Creates a scenario with a slow disk, as in clouds and old machines. */
function slowDisk(syncMs: number): Scenario {
  return {
    name: `disk-${syncMs}ms`,
    title: `each sync of the disk takes ${syncMs} ms longer`,
    minutes: 3,
    async run(context) {
      const { disk, loaded } = await start(context);
      const { load } = loaded;
      disk.delay(syncMs);
      await disk.untilInSync();
      load.begin();
      await load.until('add 201', share(1_000, context, 32));
      const [adds, reads] = [load.count('add 201'), load.count('read 200')];
      if (load.count('add 503') > 0) throw new Error('an add was refused on a disk that is only slow');
      if (reads === 0) throw new Error('no read was answered during the writes');
      disk.delay(0);
      const kept = await loaded.finish();
      return {
        done: `Each sync took ${syncMs} ms longer, with 16 writers and 8 readers`,
        seen: `Adds shared commits and waited for them; the service answered ${reads} reads and ${adds} adds`,
        lost: `None of ${kept.size} answered adds`,
        well: 'At once',
      };
    },
  };
}

/** Makes a sync hang. Returns the number of successful health checks, and the load that started during the hang. */
async function hang(context: TortureContext, disk: SlowDisk, { load, services, key }: UnderLoad, ms: number) {
  disk.hold();
  await disk.untilInSync();
  // Answers that the service sent before the sync may still arrive.
  load.begin();
  await load.until('read 200', 20);
  load.begin();
  // All earlier writers may wait for the running commit, so later writers are needed.
  const late = startLoad(context, services, key, { writers: 4, readers: 0, prefix: 'late' });
  const endsAtMs = performance.now() + ms;
  let healthy = 0;
  while (performance.now() < endsAtMs) {
    await requireHealthy(services);
    await load.until('read 200', 10 * (healthy + 1));
    healthy += 1;
  }
  if (load.count('add 201') + late.count('add 201') > 0)
    throw new Error('an add was answered while its sync hung');
  return { healthy, late };
}

export const slowDisks: readonly Scenario[] = [1, 10, 100].map(slowDisk);

export const hangingDisk: Scenario = {
  name: 'disk-hangs',
  title: 'a sync of the disk hangs under load; a second sync hangs from before SIGTERM until after the exit',
  minutes: 3,
  async run(context) {
    const { disk, loaded } = await start(context);
    const { load, store } = loaded;
    const ms = share(hangMs, context, 500);
    const { healthy, late } = await hang(context, disk, loaded, ms);
    // At any scale, a write waits up to 10 s to begin.
    if (context.scale >= 1 && load.count('add 503') + late.count('add 503') === 0)
      throw new Error('no waiting add was refused');
    load.begin();
    disk.delay(0);
    await load.until('add 201', 100);
    const kept = await loaded.finish(late);
    await endWhileItHangs(disk, store);
    return {
      done: `A sync hung for ${ms / 1_000} s with 16 writers, 4 later writers and 8 readers; another sync hung before SIGTERM`,
      seen: `Reads and /healthz were answered (${healthy} times). Adds that did not begin within 10 s got 503 \`unavailable\`. The running add was answered when the sync ended, or its connection was closed`,
      lost: `None of ${kept.size} answered adds; exit code 0`,
      well: 'At once',
    };
  },
};

/** Stops a service while a sync hangs that stores the counts of the limits. */
async function endWhileItHangs(disk: SlowDisk, store: Store): Promise<void> {
  const service = await store.start();
  disk.hold();
  await fetch(`${service.url}/pets`);
  await disk.untilInSync();
  const { code, signal } = await service.end('SIGTERM');
  disk.delay(0);
  if (code !== 0) throw new Error(`the service ended with ${code ?? signal}: ${service.readLog()}`);
  await requireWhole(store);
}
