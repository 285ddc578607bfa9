import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { elementAt } from '../../test/support/instances.ts';
import { startHaproxy, startNginx, whyNoHaproxy, whyNoNginx } from '../../test/support/nginx.ts';
import type { ServiceProcess } from '../../test/support/processes.ts';
import { findFreePort, startRedisServer, whyNoRedisServer } from '../../test/support/redis-server.ts';
import { type Scenario, Skipped, share, type TortureContext } from '../scenario.ts';
import { createSharedStore } from '../store.ts';

const restartsAtFullScale = 10;
const instances = 3;
/** The second half is when clients move, and the first half is longer than the second between two checks of HAProxy. */
const drainSeconds = 3;
/** Clients of each balancer: those that keep their connection, and those that open one for each request. */
const keeping = 20;
const opening = 5;
const pauseMs = 10;

export const rollingRestarts: Scenario = {
  name: 'rolling-restarts',
  title: 'three instances behind nginx and behind HAProxy, as shipped, are restarted one after the other',
  minutes: 10,
  async run(context) {
    const fleet = await startFleet(context);
    const load = startClients(context, fleet.urls, fleet.key);
    const restarts = share(restartsAtFullScale, context, 2);
    for (let restart = 0; restart < restarts; restart += 1) {
      await load.untilAnswered(keeping);
      await fleet.restart(restart % instances);
      context.log(`${restart + 1} restarts`);
    }
    const { answered, added } = await load.stop();
    const [row] = await fleet.store.query('select count(*) as pets from pets');
    if (Number(row?.['pets']) !== added)
      throw new Error(`${added} adds were answered, the store has ${row?.['pets']}`);
    return {
      done: `${restarts} restarts by SIGTERM with DRAIN_SECONDS=${drainSeconds}, under ${keeping} persistent clients and ${opening} with new connections at each of nginx and HAProxy`,
      seen: `200 or 201 for each of ${answered} requests, each sent once`,
      lost: `None of ${added} answered adds`,
      well: 'At once',
    };
  },
};

async function startFleet(context: TortureContext) {
  const missing = [await whyNoRedisServer(), await whyNoNginx(), await whyNoHaproxy()];
  const reason = missing.find((why) => why !== false);
  if (reason !== undefined) throw new Skipped(reason);
  const store = await createSharedStore(context, {
    REDIS_URL: (await startRedisServer(context)).url,
    DRAIN_SECONDS: String(drainSeconds),
    TRUST_PROXY: '127.0.0.1',
  });
  const places: { port: number; opsPort: number }[] = [];
  while (places.length < instances)
    places.push({ port: await findFreePort(), opsPort: await findFreePort() });
  const start = (place: number) => {
    const { port, opsPort } = elementAt(places, place);
    return store.start({ PORT: String(port), OPS_PORT: String(opsPort) });
  };
  const services: ServiceProcess[] = [];
  while (services.length < instances) services.push(await start(services.length));
  const { key } = await store.createKey();
  const { url } = await startNginx(
    context,
    places.map(({ port }) => port),
  );
  return {
    store,
    key,
    urls: [url, (await startHaproxy(context, places)).url],
    async restart(place: number) {
      const { code, stderr } = await elementAt(services, place).end('SIGTERM');
      if (code !== 0) throw new Error(`an instance exited with ${code}: ${stderr}`);
      services[place] = await start(place);
    },
  };
}

/**
 * Starts clients that list and add animals. Every request must succeed at its first attempt. HAProxy asks for `/readyz`.
 * nginx learns of a closed port only from a failed connection, and repeats the request, a POST because of its
 * `Idempotency-Key`.
 */
function startClients(context: TortureContext, urls: readonly string[], key: string) {
  let answered = 0;
  let added = 0;
  let failure: unknown;
  let isOver = false;

  async function send(url: string, agent: Agent, isAdd: boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    const sent = request(`${url}/v1/pets`, { agent, headers, method: isAdd ? 'POST' : 'GET' }, (response) =>
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject),
    );
    sent.on('error', reject);
    sent.end(isAdd ? '{"name":"Rex","categoryId":1}' : '');
    const { status, body } = await promise;
    if (status !== (isAdd ? 201 : 200)) throw new Error(`${url} answered ${status} ${body}`);
    answered += 1;
    if (isAdd) added += 1;
  }

  async function repeat(url: string, keepAlive: boolean): Promise<void> {
    const agent = new Agent({ keepAlive, maxSockets: 1 });
    context.after(() => agent.destroy());
    try {
      for (let sent = 0; !isOver && failure === undefined; sent += 1) {
        await send(url, agent, sent % 4 === 0);
        await pause(pauseMs);
      }
    } catch (error) {
      failure ??= error;
    }
  }

  const clients = urls.flatMap((url) =>
    Array.from({ length: keeping + opening }, (_, client) => repeat(url, client < keeping)),
  );
  return {
    /** Resolves when `count` more requests have been answered. */
    async untilAnswered(count: number): Promise<void> {
      for (const goal = answered + count; answered < goal && failure === undefined; ) await pause(pauseMs);
      if (failure !== undefined) throw failure;
    },
    async stop() {
      isOver = true;
      await Promise.all(clients);
      if (failure !== undefined) throw failure;
      return { answered, added };
    },
  };
}
