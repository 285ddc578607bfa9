import assert from 'node:assert/strict';
import { startClients } from '../../bench/crowds/clients.ts';
import type { CrowdSeen } from '../../bench/crowds/tally.ts';
import { formatRequest } from '../../bench/crowds/texts.ts';
import { openRaw } from '../../test/support/raw-http.ts';
import { formatAdd } from '../load.ts';
import { type Scenario, share, type TortureContext } from '../scenario.ts';
import { startTarget, type Target } from '../target.ts';
import { requireDescriptors } from './sockets.ts';

/**
 * Number of connections that send their next request as soon as they have an answer. libuv takes at most 1,024 ready
 * sockets at once. If all are ready, it takes more before it runs timers or accepts a connection.
 */
const connections = 1_100;
const requestsAtFullScale = 200;
/**
 * Maximum number of answers of each connection of the crowd for one answer of the good client. In fair turns there are
 * two: the good client connects and asks. The rest is for a machine on which it waits for a processor.
 */
const turnsMax = 10;

interface BusyCrowd extends Pick<Scenario, 'name' | 'title'> {
  readonly makeTexts: (key: string) => readonly string[] | 'strangers';
  /** The only statuses of answers to the crowd. */
  readonly statuses: readonly string[];
}

/** Creates a scenario of a crowd beside which a good client is served, and then of a SIGTERM beside the crowd. */
function busyCrowd({ makeTexts, statuses, ...scenario }: BusyCrowd): Scenario {
  return {
    ...scenario,
    minutes: 5,
    async run(context) {
      requireDescriptors(connections);
      const target = await startTarget(context);
      const { key } = await target.store.createKey();
      const order = {
        kind: 'askers',
        origin: new URL(target.url).origin,
        connections,
        texts: makeTexts(key),
      } as const;
      const requests = share(requestsAtFullScale, context, 10);
      const crowd = await startClients(order);
      await serve(context, target, key, requests);
      const beside = await crowd.stop();
      requireTurns(beside, requests, statuses);

      const last = await startClients({ ...order, isUntilClosed: true });
      const { code, signal } = await target.end('SIGTERM');
      assert.equal(code, 0, `the service ended with ${code ?? signal}: ${target.readLog()}`);
      const { lost, open } = await last.seen;
      assert.deepEqual({ lost, open }, { lost: 0, open: 0 });
      const answered = Object.entries(beside.answers).map(([status, count]) => `${count} × ${status}`);
      return {
        done: `${connections} connections that asked again as soon as they were answered; then SIGTERM beside them`,
        seen: `${answered.join(', ')}; a good client got ${requests} correct answers on new connections`,
        lost: 'nothing; each received request was answered before the end',
        well: 'at once',
      };
    },
  };
}

/** Lists and adds animals, each time on a new connection. Throws if an answer is not the right one. */
async function serve(context: TortureContext, { url }: Target, key: string, requests: number): Promise<void> {
  const list = formatRequest({ method: 'GET', path: '/v1/pets' }, key);
  for (let sent = 0; sent < requests; sent += 1) {
    const isAdd = sent % 2 === 1;
    const connection = await openRaw(context, url, isAdd ? formatAdd(key, `good ${sent}`) : list);
    const { status, body } = await connection.read();
    assert.equal(status, isAdd ? 201 : 200, body);
    connection.end();
  }
}

/** Throws if the crowd got other answers than these, or many turns for each request of the good client. */
function requireTurns({ answers }: CrowdSeen, requests: number, statuses: readonly string[]): void {
  const others = Object.keys(answers).filter((status) => !statuses.includes(status));
  assert.deepEqual(others, []);
  const all = Object.values(answers).reduce((sum, count) => sum + count, 0);
  const most = turnsMax * connections * requests;
  assert.ok(all <= most, `the crowd got ${all} answers, and the good client ${requests}`);
}

export const strangers = busyCrowd({
  name: 'strangers',
  title: 'More strangers than libuv takes at once ask again as soon as they are refused',
  makeTexts: () => 'strangers',
  statuses: ['401', '429'],
});

export const busyReaders = busyCrowd({
  name: 'busy-readers',
  title: 'More good clients than libuv takes at once read as fast as they are answered',
  makeTexts: (key) => [formatRequest({ method: 'GET', path: '/v1/pets' }, key)],
  statuses: ['200'],
});
