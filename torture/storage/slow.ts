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

/** Ends load and service; throws if what was answered is not there. Gives how much was answered. */
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

/** A disk on which each sync takes a time as those of clouds and of old machines do. */
function slowDisk(syncMs: number): Scenario {
  return {
    name: `disk-${syncMs}ms`,
    title: `each sync of the disk takes ${syncMs} ms more`,
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
      if (reads === 0) throw new Error('no read was answered beside the writes');
      disk.delay(0);
      const kept = await finish(started, load);
      return {
        done: `Each sync took ${syncMs} ms more, under 16 writers and 8 readers`,
        seen: `Adds shared the commits and waited for them; ${reads} reads were answered beside ${adds} adds`,
        lost: `Nothing of ${kept} adds`,
        well: 'At once',
        figures: { adds, reads },
      };
    },
  };
}

/** Gives how often the service was healthy meanwhile, and writers that came while the sync hung. */
async function hang(context: TortureContext, { disk, load, service, key }: Started, ms: number) {
  disk.hold();
  await disk.untilInSync();
  // Answers that were sent before the sync are still on their way.
  load.begin();
  await load.until('read 200', 20);
  load.begin();
  // All that wrote before may be in the commit under way.
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
  title: 'a sync of the disk hangs under load, and then until after SIGTERM',
  minutes: 3,
  async run(context): Promise<Outcome> {
    const started = await start(context);
    const { disk, load, store } = started;
    const ms = Math.max(500, hangMs * context.scale);
    const { healthy, late } = await hang(context, started, ms);
    // A write waits 10 s to begin, whatever the scale.
    const refused = (load.seen.get('add 503') ?? 0) + (late.seen.get('add 503') ?? 0);
    if (context.scale >= 1 && refused === 0) throw new Error('no waiting add was refused');
    load.begin();
    disk.delay(0);
    await load.until('add 201', 100);
    const kept = await finish(started, load, late);
    await endWhileItHangs(disk, store);
    return {
      done: `A sync hung for ${ms / 1_000} s under 16 writers, 4 that came then, and 8 readers; another one from before SIGTERM on`,
      seen: `Reads and /healthz answered (${healthy} times); adds that had not begun after 10 s 503 \`unavailable\`; the one under way answered when it settled, or its connection closed`,
      lost: `Nothing of ${kept} adds; exit code 0`,
      well: 'At once',
      figures: { refused, healthy },
    };
  },
};

/** The flush of counts makes the sync that hangs. */
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
