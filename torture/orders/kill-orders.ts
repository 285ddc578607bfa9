import { DatabaseSync } from 'node:sqlite';
import { createEmbeddedStore, type EmbeddedStore, killGroup, requireWhole } from '../embedded-store.ts';
import { createRandom, type Random } from '../random.ts';
import type { Scenario, TortureContext } from '../scenario.ts';
import { type Bought, buyUntilKilled, sendAgain } from './buyers.ts';
import { requireInvariants } from './invariants.ts';

const killsAtFullScale = 100;
const buyers = 32;
const animalsARound = 100;

/** What one kill showed. */
interface Round {
  readonly resent: number;
  readonly restartMs: number;
}

export const killOrders: Scenario = {
  name: 'orders-kill',
  title: 'the service is killed with SIGKILL while it sells, again and again',
  minutes: 15,
  async run(context) {
    const store = createEmbeddedStore(context, `${context.folder}/store.db`);
    const { key } = await store.createKey('--scopes', 'all');
    const random = createRandom(context.seed);
    const bought: Bought = { orders: new Map(), open: [], answers: 0 };
    const kills = Math.max(1, Math.round(killsAtFullScale * context.scale));
    const rounds: Round[] = [];
    while (rounds.length < kills) {
      rounds.push(await runRound({ store, key, random, bought }, rounds.length));
      if (rounds.length % 10 === 0) context.log(`${rounds.length} kills, ${bought.orders.size} orders`);
    }
    return describe(rounds, bought, context);
  },
};

interface World {
  readonly store: EmbeddedStore;
  readonly key: string;
  readonly random: Random;
  readonly bought: Bought;
}

/** Sells, kills the service in the midst, and compares what the next one holds with what was answered. */
async function runRound({ store, key, random, bought }: World, round: number): Promise<Round> {
  const service = await store.start();
  await addAnimals({ url: service.url, key });
  let number = 0;
  const names = { pets: (round + 1) * animalsARound, next: () => `order-${round}-${number++}` };
  setTimeout(() => killGroup(service.child), random.between(100, 1_500));
  const address = { url: service.url, key };
  const buying = Array.from({ length: buyers }, () => buyUntilKilled(address, bought, random, names));
  await Promise.all(buying);
  await service.end();
  endSomeHolds(store, bought, random);

  const startedMs = performance.now();
  const next = await store.start();
  const restartMs = performance.now() - startedMs;
  const resent = await sendAgain({ url: next.url, key }, bought);
  requireWhole(store);
  requireAnswered(store, bought);
  await requireInvariants(async (sql) => store.query(sql));
  killGroup(next.child);
  await next.end();
  return { resent, restartMs };
}

/** Has some holds be over at the next start, by moving their ends: that service closes them while it sells. */
function endSomeHolds({ file }: EmbeddedStore, { orders }: Bought, random: Random): void {
  const database = new DatabaseSync(file);
  const end = database.prepare(
    `update orders set expires_at_ms = created_at_ms + 1 where id = ? and status = 'reserved'`,
  );
  for (const order of orders.values()) {
    if (order.status !== 'reserved' || order.asked !== null || random.next() > 0.5) continue;
    end.run(BigInt(order.id));
    order.asked = 'expired';
  }
  database.close();
}

async function addAnimals({ url, key }: { url: string; key: string }): Promise<void> {
  const add = () =>
    fetch(`${url}/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
    }).then((response) => response.text());
  await Promise.all(Array.from({ length: animalsARound }, add));
}

/** Every order that was answered is there, as it was answered or as what had no answer would have made it. */
function requireAnswered(store: EmbeddedStore, { orders }: Bought): void {
  const rows = store.query('select id, status from orders');
  const stored = new Map(rows.map(({ id, status }) => [String(id), String(status)]));
  for (const order of orders.values()) {
    const status = stored.get(order.id);
    if (status === undefined || (status !== order.status && status !== order.asked))
      throw new Error(`the order ${order.id} was answered as ${order.status} and is ${status ?? 'lost'}`);
    order.status = status;
    // A hold that is over is closed by the sweep, soon.
    if (order.asked !== 'expired' || status === 'expired') order.asked = null;
  }
  if (stored.size !== orders.size)
    throw new Error(`${stored.size} orders are there, and ${orders.size} were answered`);
}

function describe(rounds: readonly Round[], { orders, answers }: Bought, { scale }: TortureContext) {
  const restarts = rounds.map(({ restartMs }) => restartMs).toSorted((a, b) => a - b);
  const median = Math.round(restarts[Math.floor(restarts.length / 2)] ?? 0);
  const resent = rounds.reduce((sum, round) => sum + round.resent, 0);
  const kills = `${rounds.length} kills${scale < 1 ? ' (a short run)' : ''}`;
  return {
    done: `SIGKILL while ${buyers} buyers reserve, complete and cancel, ${kills}`,
    seen: `Broken connections; ${resent} orders without an answer, sent again, were there once each`,
    lost: `Nothing of ${answers} answers; each animal had one owner, and inventory and events agreed with it`,
    well: `${median} ms from the start to serving (median)`,
    figures: { kills: rounds.length, answers, orders: orders.size, resent, medianRestartMs: median },
  };
}
