import { spawnProgram } from '../../test/support/processes.ts';
import { openRaw } from '../../test/support/raw-http.ts';
import { createEmbeddedStore, type EmbeddedStore, killGroup, requireWhole } from '../embedded-store.ts';
import { createRandom, type Random } from '../random.ts';
import type { Outcome, Scenario, TortureContext } from '../scenario.ts';
import { createComparison } from './compare.ts';
import { readDayUsed, requireCounted } from './counts.ts';
import { createPosts, type Post, type Posts } from './posts.ts';
import { connections, formatRequest, takeReplay, writeUntilKilled } from './writers.ts';

const killsAtFullScale = 100;
const replaysChecked = 50;

/** The result of one kill. */
interface Round {
  readonly answers: number;
  readonly resent: number;
  readonly restartMs: number;
  readonly countsLostMs: number;
}

export const kill: Scenario = {
  name: 'kill',
  title: 'the service is killed with SIGKILL under full write load, again and again',
  minutes: 15,
  async run(context) {
    const store = createEmbeddedStore(context, `${context.folder}/store.db`);
    const { key } = await store.createKey();
    const random = createRandom(context.seed);
    const posts = createPosts(context.seed);
    const comparison = createComparison(store, posts);
    const kills = Math.max(1, Math.round(killsAtFullScale * context.scale));
    const rounds: Round[] = [];
    while (rounds.length < kills) {
      if (random.next() < 0.1) await killWhileStarting(context, store, random);
      rounds.push(await runRound(context, { store, key, random, posts }, comparison.compareNew));
      if (rounds.length % 10 === 0) context.log(`${rounds.length} kills, ${posts.byName.size} animals sent`);
    }
    return describe(rounds, comparison.compareAll(), context);
  },
};

interface World {
  readonly store: EmbeddedStore;
  readonly key: string;
  readonly random: Random;
  readonly posts: Posts;
}

async function killWhileStarting(
  context: TortureContext,
  store: EmbeddedStore,
  random: Random,
): Promise<void> {
  const { settings } = store;
  const child = spawnProgram(['serve', '--json'], { settings, isGroupLeader: true });
  context.after(() => killGroup(child));
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdout?.resume();
  child.stderr?.resume();
  setTimeout(() => killGroup(child), random.between(0, 600));
  await ended;
}

/** Puts a service under load, kills the service, starts the next one and checks the store. */
async function runRound(
  context: TortureContext,
  { store, key, random, posts }: World,
  compareNew: (sent: readonly Post[]) => void,
): Promise<Round> {
  const service = await store.start();
  const usedBefore = await readDayUsed(service, key);
  let killedAtMs = 0;
  setTimeout(
    () => {
      killedAtMs = performance.now();
      killGroup(service.child);
    },
    random.between(50, random.next() < 0.1 ? 3_000 : 1_500),
  );
  const written = await writeUntilKilled(context, { url: service.url, key }, posts);
  await service.end();

  const startedMs = performance.now();
  const next = await store.start();
  const counted = (await readDayUsed(next, key)) - 1 - usedBefore;
  const restartMs = performance.now() - startedMs;
  const { answeredAtMs, unanswered } = written;
  const sent = answeredAtMs.length + connections;
  const countsLostMs = requireCounted(counted, {
    answeredAtMs,
    sent,
    killedAtMs,
    graceMs: context.scale < 1 ? 10_000 : 200,
  });

  const fresh = posts.takeNew();
  const resent = await sendAgain(context, { url: next.url, key }, posts, fresh, unanswered);
  compareNew(fresh);
  requireWhole(store);
  killGroup(next.child);
  await next.end();
  return { answers: answeredAtMs.length, resent, restartMs, countsLostMs };
}

/**
 * Repeats every keyed request without an answer, and the last `replaysChecked` answered ones. Returns the number of
 * keyed requests without an answer.
 */
async function sendAgain(
  context: TortureContext,
  service: { readonly url: string; readonly key: string },
  posts: Posts,
  fresh: readonly Post[],
  unanswered: readonly Post[],
): Promise<number> {
  const connection = await openRaw(context, service.url);
  const send = (post: Post) => {
    connection.send(formatRequest(service, post));
    return connection.read();
  };
  const keyed = unanswered.filter(({ idempotencyKey }) => idempotencyKey !== null);
  for (const post of keyed) {
    const answer = await send(post);
    if (answer.status !== 201)
      throw new Error(`the retry of ${post.name} was answered with ${answer.status}`);
    posts.answer(post, answer.body);
  }
  const answered = fresh.filter(
    ({ idempotencyKey, answeredId }) => idempotencyKey !== null && answeredId !== null,
  );
  for (const post of [...answered.slice(-replaysChecked), ...keyed])
    takeReplay(posts, post, await send(post));
  return keyed.length;
}

function describe(rounds: readonly Round[], animals: number, { scale }: TortureContext): Outcome {
  const restarts = rounds.map(({ restartMs }) => restartMs).toSorted((a, b) => a - b);
  const answers = rounds.reduce((sum, round) => sum + round.answers, 0);
  const resent = rounds.reduce((sum, round) => sum + round.resent, 0);
  const median = Math.round(restarts[Math.floor(restarts.length / 2)] ?? 0);
  const longest = Math.round(restarts.at(-1) ?? 0);
  const lostMs = Math.round(Math.max(...rounds.map(({ countsLostMs }) => countsLostMs)));
  const kills = `${rounds.length} kills${scale < 1 ? ' (a short run)' : ''}`;
  return {
    done: `SIGKILL under full write load over ${connections} connections, ${kills}`,
    seen: `Broken connections. ${resent} adds with a key got no answer; each was sent again and added one animal`,
    lost: `None of ${answers} answered adds; at most the last ${lostMs} ms of the request counts`,
    well: `${median} ms from the start to the first answer (median; at most ${longest})`,
    figures: {
      kills: rounds.length,
      answers,
      animals,
      resent,
      medianRestartMs: median,
      longestRestartMs: longest,
      countsLostMs: lostMs,
    },
  };
}
