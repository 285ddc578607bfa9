import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceProcess } from '../../test/support/processes.ts';
import { requireKept } from '../load.ts';
import { createRandom, type Random } from '../random.ts';
import { type Scenario, share, type TortureContext } from '../scenario.ts';
import { createEmbeddedStore, requireWhole, type Store } from '../store.ts';
import { type Address, addSlowly, addUntilClosed, idle, type Seen } from './clients.ts';

const roundsAtFullScale = 20;
const crowd = { busy: 32, fresh: 4, idle: 16, slow: 4 };
/** The time limit for a stop in a full run, which has the machine to itself. */
const stopMsMax = 10_000;

export const terminate: Scenario = {
  name: 'terminate',
  title: 'the service gets SIGTERM once or twice under load, with slow, idle and stalled clients',
  minutes: 5,
  async run(context) {
    const store = createEmbeddedStore(context, `${context.folder}/store.db`);
    const { key } = await store.createKey();
    const random = createRandom(context.seed);
    const rounds = share(roundsAtFullScale, context, 2);
    const seen: Seen = { answered: new Map(), isStopping: false };
    const stopsMs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const service = await store.start();
      seen.isStopping = false;
      // The service waits for a client that never sends its whole request, so only some rounds have one.
      const isStalled = round % 5 === 1;
      stopsMs.push(
        await stopUnderLoad(context, service, { url: service.url, key }, { random, seen, round, isStalled }),
      );
      await requireNothingElse(store, seen);
    }
    await requireWhole(store);
    const longest = (Math.max(...stopsMs) / 1_000).toFixed(1);
    const usual = (stopsMs.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0) / 1_000;
    return {
      done: `SIGTERM ${rounds} times under load, every second time twice: ${crowd.busy} busy connections, ${crowd.idle} idle, ${crowd.slow} slow, one stalled, new ones all the time`,
      seen: 'Complete answers; idle connections were closed; new connections were refused without an answer',
      lost: `None of ${seen.answered.size} answered adds; exit code 0`,
      well: `Ended after ${usual.toFixed(1)} s (median); ${longest} s if a client stalled`,
    };
  },
};

interface Round {
  readonly random: Random;
  readonly seen: Seen;
  readonly round: number;
  readonly isStalled: boolean;
}

/** Stops a service under load. Returns the time from SIGTERM to its exit, in milliseconds. */
async function stopUnderLoad(
  context: TortureContext,
  service: ServiceProcess,
  address: Address,
  { random, seen, round, isStalled }: Round,
): Promise<number> {
  const held: Promise<void>[] = [];
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.push(promise);
    return resolve;
  };
  const times = (count: number, kind: string, client: (name: string) => Promise<unknown>) =>
    Array.from({ length: count }, (_, place) => client(`${kind} ${round} ${place}`));
  const clients = [
    ...times(crowd.busy, 'busy', (name) => addUntilClosed(context, address, name, seen, hold())),
    ...times(crowd.fresh, 'fresh', (name) => addUntilClosed(context, address, name, seen, hold(), true)),
    ...times(crowd.idle, 'idle', () => idle(context, address, hold())),
    ...times(crowd.slow, 'slow', (name) => addSlowly(context, address, name, seen, hold())),
    ...times(isStalled ? 1 : 0, 'stalled', (name) => addSlowly(context, address, name, seen, hold(), true)),
  ];
  const all = Promise.all(clients);
  await Promise.race([Promise.all(held), all]);
  await pause(random.between(0, 500));
  const toldMs = performance.now();
  seen.isStopping = true;
  const ended = service.end('SIGTERM');
  if (round % 2 === 1) {
    await pause(random.between(0, 300));
    service.child.kill('SIGTERM');
  }
  await all;
  const { code, signal } = await ended;
  const tookMs = performance.now() - toldMs;
  if (code !== 0) throw new Error(`the service ended with ${code ?? signal}: ${service.readLog()}`);
  if (context.scale >= 1 && tookMs > stopMsMax)
    throw new Error(`the service took ${Math.round(tookMs)} ms to end`);
  return tookMs;
}

/**
 * Throws if the store lacks an answered animal or has an unanswered one, because every completely sent request must
 * have an answer.
 */
async function requireNothingElse(store: Store, { answered }: Seen): Promise<void> {
  await requireKept(store, answered);
  const [row] = await store.query('select count(*) as count from pets');
  if (Number(row?.['count']) !== answered.size)
    throw new Error(`${answered.size} adds were answered, and the store has ${row?.['count']} animals`);
}
