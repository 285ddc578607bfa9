import { setTimeout } from 'node:timers/promises';
import { createRandom, type Random } from '../random.ts';
import type { Scenario, TortureContext } from '../scenario.ts';
import { type Bought, buyUntilKilled, sendAgain } from './buyers.ts';
import { requireInvariants } from './invariants.ts';
import { openEmbeddedShop, openFleetShop, type Shop } from './shops.ts';

const killsAtFullScale = 100;
const buyers = 32;
const animalsARound = 100;

/** The result of one kill. */
interface Round {
  readonly resent: number;
  readonly restartMs: number;
}

export const killOrders: Scenario = {
  name: 'orders-kill',
  title: 'the service is killed with SIGKILL again and again while buyers place and close orders',
  minutes: 15,
  run: (context) => killWhileSelling(context, openEmbeddedShop, 'SIGKILL'),
};

export const killOrdersShared: Scenario = {
  name: 'orders-kill-postgres',
  title: 'one of three instances is killed with SIGKILL again and again while buyers place and close orders',
  minutes: 20,
  run: (context) => killWhileSelling(context, openFleetShop, 'SIGKILL of one of three instances'),
};

async function killWhileSelling(
  context: TortureContext,
  open: (context: TortureContext, random: Random) => Promise<Shop>,
  fault: string,
) {
  const random = createRandom(context.seed);
  const shop = await open(context, random);
  const bought: Bought = { orders: new Map(), open: [], answers: 0 };
  const kills = Math.max(1, Math.round(killsAtFullScale * context.scale));
  const rounds: Round[] = [];
  while (rounds.length < kills) {
    rounds.push(await runRound({ shop, random, bought }, rounds.length));
    if (rounds.length % 10 === 0) context.log(`${rounds.length} kills, ${bought.orders.size} orders`);
  }
  return describe(rounds, bought, context, fault);
}

interface World {
  readonly shop: Shop;
  readonly random: Random;
  readonly bought: Bought;
}

/** Kills a service while buyers place and close orders, and compares the store with the answers. */
async function runRound({ shop, random, bought }: World, round: number): Promise<Round> {
  const { key } = shop;
  const urls = shop.urls();
  const [url = ''] = urls;
  await addAnimals({ url, key });
  let number = 0;
  let isOver = false;
  const names = {
    pets: (round + 1) * animalsARound,
    next: () => `order-${round}-${number++}`,
    isOver: () => isOver,
  };
  const buying = Array.from({ length: buyers }, (_, n) =>
    buyUntilKilled({ url: urls[n % urls.length] ?? url, key }, bought, random, names),
  );
  await setTimeout(random.between(100, 1_500));
  await shop.kill();
  isOver = true;
  await Promise.all(buying);
  await shop.settle();
  await endSomeHolds(shop, bought, random);

  const startedMs = performance.now();
  await shop.restart();
  const restartMs = performance.now() - startedMs;
  const resent = await sendAgain({ url: shop.urls().at(-1) ?? url, key }, bought);
  await shop.settle();
  await requireAnswered(shop, bought);
  await requireInvariants(shop.query);
  return { resent, restartMs };
}

/** Expires about half of the open holds, so that the services close them in the next round. */
async function endSomeHolds({ query }: Shop, { orders }: Bought, random: Random): Promise<void> {
  const held = [...orders.values()].filter(({ status, asked }) => status === 'reserved' && asked === null);
  const ended = held.filter(() => random.next() < 0.5);
  if (ended.length === 0) return;
  const ids = ended.map(({ id }) => id).join(', ');
  await query(
    `update orders set expires_at_ms = created_at_ms + 1 where id in (${ids}) and status = 'reserved'`,
  );
  for (const order of ended) order.asked = 'expired';
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

/** Requires that each order has the status of its last answer, or of its unanswered request. */
async function requireAnswered({ query }: Shop, { orders }: Bought): Promise<void> {
  const rows = await query('select id, status from orders');
  const stored = new Map(rows.map(({ id, status }) => [String(id), String(status)]));
  for (const order of orders.values()) {
    const status = stored.get(order.id);
    if (status === undefined || (status !== order.status && status !== order.asked))
      throw new Error(`the order ${order.id} was answered as ${order.status} and is ${status ?? 'lost'}`);
    order.status = status;
    // A hold that was set to expire may still be open, until the next sweep closes it.
    if (order.asked !== 'expired' || status === 'expired') order.asked = null;
  }
  if (stored.size !== orders.size)
    throw new Error(`the store has ${stored.size} orders, and ${orders.size} were answered`);
}

function describe(
  rounds: readonly Round[],
  { orders, answers }: Bought,
  { scale }: TortureContext,
  fault: string,
) {
  const restarts = rounds.map(({ restartMs }) => restartMs).toSorted((a, b) => a - b);
  const median = Math.round(restarts[Math.floor(restarts.length / 2)] ?? 0);
  const resent = rounds.reduce((sum, round) => sum + round.resent, 0);
  const kills = `${rounds.length} kills${scale < 1 ? ' (a short run)' : ''}`;
  return {
    done: `${fault} while ${buyers} buyers reserve, complete and cancel, ${kills}`,
    seen: `Broken connections. ${resent} orders got no answer; each was sent again and placed once`,
    lost: `None of ${answers} answered requests; each animal had one owner, and the inventory and the events matched`,
    well: `${median} ms from the start to serving (median)`,
    figures: { kills: rounds.length, answers, orders: orders.size, resent, medianRestartMs: median },
  };
}
