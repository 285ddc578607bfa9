import { createEmbeddedStore, type EmbeddedStore, requireWhole } from '../embedded-store.ts';
import { type Load, requireKept, startLoad } from '../load.ts';
import { type Outcome, type Scenario, Skipped, type TortureContext } from '../scenario.ts';
import { buildSlowDisk, type SlowDisk } from './slow-disk.ts';

const hangMs = 25_000;

async function start(context: TortureContext) {
  const disk = buildSlowDisk(context.folder);
  if ('problem' in disk) throw new Skipped(disk.problem);
  const store = createEmbeddedStore(context, `${context.folder}/store.db`, { settings: disk.settings });
  const { key } = await store.createKey();
  const service = await store.start();
  const load = await startLoad(context, service, key, { writers: 16, readers: 8, prefix: 'slow' });
  await load.until('add 201', 100);
  return { disk, store, key, service, load };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Stops the load and the service. Throws if an answered animal is missing. Returns the number of answered adds. */
async function finish({ store, service }: Started, ...loads: readonly Load[]): Promise<number> {
  const answered = new Map(
    (await Promise.all(loads.map((load) => load.stop()))).flatMap((names) => [...names]),
  );
  const { code } = await service.end('SIGTERM');
  if (code !== 0) throw new Error(`the service ended with ${code}: ${service.readLog()}`);
  requireKept(store, answered);
  requireWhole(store);
  return answered.size;
}

/** Creates a scenario with a slow disk, as in clouds and old machines. */
function slowDisk(syncMs: number): Scenario {
  return {
    name: `disk-${syncMs}ms`,
    title: `each sync of the disk takes ${syncMs} ms longer`,
    minutes: 3,
    async run(context): Promise<Outcome> {
      const started = await start(context);
      const { disk, load } = started;
      disk.delay(syncMs);
      await disk.untilInSync();
      load.begin();
      await load.until('add 201', Math.max(32, Math.round(1_000 * context.scale)));
      const [adds, reads] = [load.seen.get('add 201') ?? 0, load.seen.get('read 200') ?? 0];
      if (load.seen.has('add 503')) throw new Error('an add was refused on a disk that is only slow');
      if (reads === 0) throw new Error('no read was answered during the writes');
      disk.delay(0);
      const kept = await finish(started, load);
      return {
        done: `Each sync took ${syncMs} ms longer, with 16 writers and 8 readers`,
        seen: `Adds shared commits and waited for them; the service answered ${reads} reads and ${adds} adds`,
        lost: `None of ${kept} answered adds`,
        well: 'At once',
        figures: { adds, reads },
      };
    },
  };
}

/** Makes a sync hang. Returns the number of successful health checks, and the load that started during the hang. */
async function hang(context: TortureContext, { disk, load, service, key }: Started, ms: number) {
  disk.hold();
  await disk.untilInSync();
  // Answers that the service sent before the sync may still arrive.
  load.begin();
  await load.until('read 200', 20);
  load.begin();
  // All earlier writers may wait for the running commit, so later writers are needed.
  const late = await startLoad(context, service, key, { writers: 4, readers: 0, prefix: 'late' });
  const endsAtMs = performance.now() + ms;
  let healthy = 0;
  while (performance.now() < endsAtMs) {
    if ((await fetch(`${service.opsUrl}/healthz`)).status !== 200)
      throw new Error('unhealthy while the disk hangs');
    await load.until('read 200', 10 * (healthy + 1));
    healthy += 1;
  }
  if (load.seen.has('add 201') || late.seen.has('add 201'))
    throw new Error('an add was answered while its sync hung');
  return { healthy, late };
}

export const slowDisks: readonly Scenario[] = [1, 10, 100].map(slowDisk);

export const hangingDisk: Scenario = {
  name: 'disk-hangs',
  title: 'a sync of the disk hangs under load; a second sync hangs from before SIGTERM until after the exit',
  minutes: 3,
  async run(context): Promise<Outcome> {
    const started = await start(context);
    const { disk, load, store } = started;
    const ms = Math.max(500, hangMs * context.scale);
    const { healthy, late } = await hang(context, started, ms);
    // At any scale, a write waits up to 10 s to begin.
    const refused = (load.seen.get('add 503') ?? 0) + (late.seen.get('add 503') ?? 0);
    if (context.scale >= 1 && refused === 0) throw new Error('no waiting add was refused');
    load.begin();
    disk.delay(0);
    await load.until('add 201', 100);
    const kept = await finish(started, load, late);
    await endWhileItHangs(disk, store);
    return {
      done: `A sync hung for ${ms / 1_000} s with 16 writers, 4 later writers and 8 readers; another sync hung before SIGTERM`,
      seen: `Reads and /healthz were answered (${healthy} times). Adds that did not begin within 10 s got 503 \`unavailable\`. The running add was answered when the sync ended, or its connection was closed`,
      lost: `None of ${kept} answered adds; exit code 0`,
      well: 'At once',
      figures: { refused, healthy },
    };
  },
};

/** Stops a service while a sync hangs that stores the counts of the limits. */
async function endWhileItHangs(disk: SlowDisk, store: EmbeddedStore): Promise<void> {
  const service = await store.start();
  disk.hold();
  await fetch(`${service.url}/pets`);
  await disk.untilInSync();
  const { code, signal } = await service.end('SIGTERM');
  disk.delay(0);
  if (code !== 0) throw new Error(`the service ended with ${code ?? signal}: ${service.readLog()}`);
  requireWhole(store);
}
