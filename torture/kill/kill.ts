import { setTimeout as pause } from 'node:timers/promises';
import { readToEnd, spawnProgram } from '../../test/support/processes.ts';
import { startRedisServer, whyNoRedisServer } from '../../test/support/redis-server.ts';
import { requireInvariants } from '../invariants.ts';
import { beginMirror } from '../mirror.ts';
import { createRandom, type Random } from '../random.ts';
import { type Scenario, Skipped, share, type TortureContext } from '../scenario.ts';
import { type Services, startServices } from '../services.ts';
import { createEmbeddedStore, createSharedStore, requireWhole, type Store } from '../store.ts';
import { createWriters } from '../writers.ts';
import { watchCounts } from './counts.ts';

const killsAtFullScale = 100;
const clients = 32;
const replaysChecked = 500;

export const kill: Scenario = {
  name: 'kill',
  title: 'the service is killed with SIGKILL under full write load, again and again',
  minutes: 20,
  async run(context) {
    const random = createRandom(context.seed);
    const store = createEmbeddedStore(context, `${context.folder}/store.db`);
    const services = await startServices(context, random, store, 1);
    const counts = watchCounts(services, context.scale < 1 ? 10_000 : 2_000);
    const outcome = await killWhileWriting(context, random, services, {
      begin: counts.begin,
      async afterKill() {
        counts.afterKill();
        if (random.next() < 0.1) await killWhileStarting(store, random);
      },
      async end() {
        await counts.end();
        await requireWhole(store);
      },
    });
    return {
      ...outcome,
      done: `SIGKILL under full write load, ${outcome.done}`,
      lost: `${outcome.lost}; at most the last ${counts.longestMs()} ms of the request counts`,
    };
  },
};

export const killShared: Scenario = {
  name: 'kill-postgres',
  title: 'one of three instances is killed with SIGKILL under full write load, again and again',
  minutes: 20,
  async run(context) {
    const missing = await whyNoRedisServer();
    if (missing !== false) throw new Skipped(missing);
    const random = createRandom(context.seed);
    const store = await createSharedStore(context, { REDIS_URL: (await startRedisServer(context)).url });
    const services = await startServices(context, random, store, 3);
    const outcome = await killWhileWriting(context, random, services, {
      begin: async () => undefined,
      afterKill: async () => undefined,
      end: () => untilDone(store),
    });
    return { ...outcome, done: `SIGKILL of one of three instances under full write load, ${outcome.done}` };
  },
};

interface Checks {
  /** Called before each round, after each kill, and when all requests of the round are answered. */
  begin(): Promise<void>;
  afterKill(): Promise<void>;
  end(): Promise<void>;
}

/** Kills a service in each round, while clients change the store and a follower copies it. Compares them. */
async function killWhileWriting(context: TortureContext, random: Random, services: Services, checks: Checks) {
  const writers = createWriters(services, random);
  const mirror = await beginMirror(services);
  const kills = share(killsAtFullScale, context);
  const restartsMs: number[] = [];
  for (let round = 1; round <= kills; round += 1) {
    await checks.begin();
    writers.start(clients);
    await pause(random.between(50, random.next() < 0.1 ? 3_000 : 1_500));
    await services.kill();
    await checks.afterKill();
    const startedMs = performance.now();
    await services.replace();
    restartsMs.push(performance.now() - startedMs);
    await writers.stop();
    await checks.end();
    await writers.requireKept();
    await writers.endSomeHolds();
    if (round % 10 !== 0) continue;
    await requireInvariants(services.store.query);
    context.log(`${round} kills, ${writers.countAnswered()} answers`);
  }
  await mirror.end();
  await requireInvariants(services.store.query);
  await writers.requireReplayed(replaysChecked);
  await services.end();
  const sorted = restartsMs.toSorted((a, b) => a - b);
  const median = Math.round(sorted[Math.floor(kills / 2)] ?? 0);
  return {
    done: `${kills} kills, while ${clients} clients add, change, order and delete animals and one follows the events`,
    seen: `Broken connections. ${writers.countRepeated()} requests got no answer; each was sent again and done once`,
    lost: `None of ${writers.countAnswered()} answered requests and of ${mirror.met.length} events; each animal had one owner`,
    well: `${median} ms from the start to serving (median; at most ${Math.round(sorted.at(-1) ?? 0)})`,
  };
}

async function killWhileStarting({ settings }: Store, random: Random): Promise<void> {
  const child = spawnProgram(['serve', '--json'], { settings });
  setTimeout(() => child.kill('SIGKILL'), random.between(0, 600));
  await readToEnd(child);
}

/** Waits for all earlier transactions, because PostgreSQL may still run transactions of a killed service. */
async function untilDone({ query }: Store): Promise<void> {
  const [{ now } = {}] = await query('select now()::text as now');
  const open = `select 1 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start < '${now}'`;
  while ((await query(open)).length > 0) await pause(10);
}
