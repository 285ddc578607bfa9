import { untilAnswered } from '../../test/support/instances.ts';
import {
  addressOf,
  type PostgresServer,
  startPostgresCluster,
  whyNoPostgresCluster,
} from '../../test/support/postgres-cluster.ts';
import { startRedisServer, whyNoRedisServer } from '../../test/support/redis-server.ts';
import { requireInvariants } from '../invariants.ts';
import { beginMirror } from '../mirror.ts';
import { createRandom } from '../random.ts';
import { type Scenario, Skipped, share, type TortureContext } from '../scenario.ts';
import { type Services, startServices } from '../services.ts';
import { createStore } from '../store.ts';
import { createWriters } from '../writers.ts';

const seedsAtFullScale = 3;
const clients = 8;
/** The time limit for an answer after a promotion, generous for a busy machine. The report has the measured time. */
const backMsMax = 60_000;

/** The time in which a revocation takes effect on every instance. */
const revokeMsMax = 5_000;
const isStatus = (status: number) => (response: Response) => response.status === status;

/** The result of one seed. */
interface Round {
  readonly answered: number;
  readonly events: number;
  readonly backMs: readonly number[];
}

export const failover: Scenario = {
  name: 'failover',
  title: 'the primary of three instances is killed, its standby promoted, and the former one made a standby',
  minutes: 15,
  async run(context) {
    const missing = whyNoPostgresCluster() || (await whyNoRedisServer());
    if (missing !== false) throw new Skipped(missing);
    const seeds = share(seedsAtFullScale, context);
    const rounds: Round[] = [];
    for (let seed = context.seed; rounds.length < seeds; seed += 1) {
      rounds.push(await runSeed(context, seed));
      context.log(`seed ${seed}: ${JSON.stringify(rounds.at(-1))}`);
    }
    const sum = (name: 'answered' | 'events') => rounds.reduce((total, round) => total + round[name], 0);
    const backMs = rounds.flatMap((round) => round.backMs).toSorted((a, b) => a - b);
    return {
      done: `In each of ${seeds} runs, kill -9 of the primary under ${clients} writers, promotion of its synchronous standby, the former primary back as standby, and the same in the other direction; three instances with both addresses`,
      seen: '503 and broken connections of the database; clients repeated each request with its Idempotency-Key, and a follower its page',
      lost: `None of ${sum('answered')} answered requests; no id twice, each retry got the first answer, and the feed of ${sum('events')} events had no gap`,
      well: `All instances answered 200 after ${backMs.join(', ')} ms from the promotion`,
    };
  },
};

async function runSeed(context: TortureContext, seed: number): Promise<Round> {
  const random = createRandom(seed);
  const { primary, standby } = await startPostgresCluster(context);
  const settings = { REDIS_URL: (await startRedisServer(context)).url };
  let current = primary;
  const query = async (sql: string) => current.execute(sql);
  const store = createStore(context, addressOf(primary, standby), { settings }, query);
  const services = await startServices(context, random, store, 3);
  const revoked = await store.createKey();
  for (const service of services.all) await untilAnswered(service, revoked.key, isStatus(200), backMsMax);
  const mirror = await beginMirror(services);
  const writers = createWriters(services, random);
  writers.start(clients);
  const backMs: number[] = [];
  for (const [lost, heir] of [
    [primary, standby],
    [standby, primary],
  ] as const) {
    await writers.untilAnswered(random.between(100, 300));
    await lost.kill();
    await heir.promote();
    current = heir;
    backMs.push(await measureBack(services));
    await writers.untilAnswered(random.between(50, 100));
    await lost.follow(heir);
    await requireStandby(lost);
  }
  await writers.untilAnswered(100);
  await writers.stop();
  await mirror.end();
  await writers.requireKept();
  await writers.requireReplayed(Infinity);
  await requireInvariants(query);
  await store.run('keys', 'revoke', revoked.id);
  for (const service of services.all) await untilAnswered(service, revoked.key, isStatus(401), revokeMsMax);
  await services.end();
  await Promise.all([primary.kill(), standby.kill()]);
  return { answered: writers.countAnswered(), events: mirror.met.length, backMs };
}

/** Returns the time in ms until every instance has answered 200. */
async function measureBack({ all, key }: Services): Promise<number> {
  const startedMs = performance.now();
  for (const service of all) await untilAnswered(service, key, isStatus(200), backMsMax);
  return Math.round(performance.now() - startedMs);
}

async function requireStandby(server: PostgresServer): Promise<void> {
  const [row] = await server.execute('select pg_is_in_recovery() as is_standby');
  if (row?.['is_standby'] !== true) throw new Error('the former primary is no standby');
}
