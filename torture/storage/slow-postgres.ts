import { expectError } from '../../test/support/expect-error.ts';
import { ask, untilAnswered } from '../../test/support/instances.ts';
import { startRedisServer, whyNoRedisServer } from '../../test/support/redis-server.ts';
import { type Relay, startRelay } from '../../test/support/relay.ts';
import { type Scenario, Skipped, share, type TortureContext } from '../scenario.ts';
import { createSharedStore } from '../store.ts';
import { requireHealthy, startUnderLoad, type UnderLoad } from '../under-load.ts';

const addsAtFullScale = 500;
const hangMs = 30_000;
/** The service gives up on a hung PostgreSQL after 2 s for a connection and 6 s for an answer. */
const refusalMsMax = 8_000;
const backMsMax = 30_000;
const loadText = '2 instances, each with 8 writers and 4 readers';

/** Starts instances under load that reach PostgreSQL through a relay. */
async function start(context: TortureContext): Promise<{ relay: Relay; loaded: UnderLoad }> {
  const missing = await whyNoRedisServer();
  if (missing !== false) throw new Skipped(missing);
  const started = Promise.withResolvers<Relay>();
  const settings = { REDIS_URL: (await startRedisServer(context)).url };
  const store = await createSharedStore(context, settings, async (url) => {
    const relay = await startRelay(context, url);
    started.resolve(relay);
    return relay.url;
  });
  const loaded = await startUnderLoad(context, store, { count: 2, writers: 8, readers: 4 });
  return { relay: await started.promise, loaded };
}

/** Requires that no request is refused until each instance has added some animals. */
async function requireServed({ load, services }: UnderLoad, context: TortureContext): Promise<void> {
  load.begin();
  await load.until('add 201', share(addsAtFullScale, context, 20));
  await requireHealthy(services);
  if (load.count('add 503') + load.count('read 503') > 0)
    throw new Error('a request was refused although its store was only slow');
}

export function slowPostgres(ms: number): Scenario {
  return {
    name: `postgres-${ms}ms`,
    title: `each answer of PostgreSQL takes ${ms} ms longer`,
    minutes: 5,
    async run(context) {
      const { relay, loaded } = await start(context);
      const { load } = loaded;
      relay.delay(ms);
      await requireServed(loaded, context);
      const [adds, reads] = [load.count('add 201'), load.count('read 200')];
      relay.delay(0);
      await requireServed(loaded, context);
      const kept = await loaded.finish();
      return {
        done: `Each answer of PostgreSQL took ${ms} ms longer; ${loadText}`,
        seen: `Only slower answers: ${adds} adds and ${reads} reads; /healthz 200`,
        lost: `None of ${kept.size} answered adds`,
        well: 'At once',
      };
    },
  };
}

export const hangingPostgres: Scenario = {
  name: 'postgres-hangs',
  title: 'PostgreSQL stops answering, and later answers again',
  minutes: 5,
  async run(context) {
    const { relay, loaded } = await start(context);
    const { load, services, key } = loaded;
    const seconds = share(hangMs, context, 2_000) / 1_000;
    const slowestMs = await hang(relay, loaded, seconds);
    // In a short run, other tests slow the machine down, so the time is not checked.
    if (context.scale >= 1 && slowestMs > refusalMsMax + 1_000)
      throw new Error(`an answer took ${slowestMs} ms`);
    await relay.mend();
    const mendedMs = performance.now();
    for (const service of services)
      await untilAnswered(service, key, ({ status }) => status === 200, backMsMax);
    const wellMs = Math.round(performance.now() - mendedMs);
    // The service may still refuse requests that began before the store answered again.
    load.begin();
    await load.until('add 201', 20);
    await requireServed(loaded, context);
    const kept = await loaded.finish();
    return {
      done: `PostgreSQL did not answer for ${seconds} s; ${loadText}`,
      seen: `503 \`unavailable\`, or an answer that the instance had in memory; new requests were answered within ${slowestMs} ms; /healthz 200`,
      lost: `None of ${kept.size} answered adds`,
      well: `${wellMs} ms after it answered again`,
    };
  },
};

/** Silences PostgreSQL. Returns the time of the slowest 200 or 503 for a page that is probably not cached. */
async function hang(relay: Relay, { services, key }: UnderLoad, seconds: number): Promise<number> {
  const endsAtMs = performance.now() + seconds * 1_000;
  relay.silence();
  let slowestMs = 0;
  while (performance.now() < endsAtMs) {
    await requireHealthy(services);
    for (const service of services) {
      const startedMs = performance.now();
      const response = await ask(service, key, '/pets?limit=99');
      if (response.status === 200) await response.text();
      else await expectError(response, 503, 'unavailable');
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - startedMs));
    }
  }
  return slowestMs;
}
