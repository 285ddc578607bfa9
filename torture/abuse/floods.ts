import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { waitingRequestsMax } from '../../src/http/connection/connections.ts';
import { type Scenario, share } from '../scenario.ts';
import { abuse } from './abuse.ts';
import type { FloodOrder, FloodSum } from './flooder.ts';

interface Flood extends Pick<FloodOrder, 'kind' | 'clients' | 'seconds' | 'requests'> {
  readonly name: string;
  readonly title: string;
  /** The only statuses of answers. */
  readonly statuses: readonly string[];
  /** Whether the service closes connections before all answers. Null if it may. */
  readonly isCutOff: boolean | null;
  readonly growthMibMax: number;
}

/** Creates a scenario whose clients reconnect and send again without a pause. */
function flood({ name, title, growthMibMax, statuses: expected, isCutOff, ...flood }: Flood): Scenario {
  return abuse({
    name,
    title,
    minutes: 3,
    settings: { TRUST_PROXY: '1' },
    growthMibMax,
    async misbehave(context, { host, port }) {
      const seconds = flood.seconds * context.scale;
      const clients = share(flood.clients, context);
      const order: FloodOrder = { ...flood, seed: context.seed, host, port, clients, seconds };
      const worker = new Worker(new URL('flooder.ts', import.meta.url), { workerData: order });
      const [{ bursts, statuses, cut }] = (await once(worker, 'message')) as [FloodSum];
      const seen = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
      const others = [...statuses.keys()].filter((status) => !expected.includes(status));
      assert.deepEqual(others, [], seen);
      assert.ok(isCutOff === null || isCutOff === cut > 0, `${cut} bursts were cut off`);
      return {
        done: `${title}: ${clients} clients sent ${bursts} bursts of ${flood.requests} in ${seconds} s`,
        seen: cut > 0 ? `${seen}; ${cut} bursts were cut off` : seen,
        well: 'at once',
      };
    },
  });
}

export const floods: readonly Scenario[] = [
  flood({
    name: 'pipelined-flood',
    title: 'Requests without a key, as many at once as may wait on a connection',
    kind: 'keyless',
    clients: 50,
    seconds: 20,
    requests: waitingRequestsMax,
    statuses: ['401', '429'],
    isCutOff: false,
    growthMibMax: 1_600,
  }),
  flood({
    name: 'overlong-flood',
    title: 'Requests without a key, more at once than may wait on a connection',
    kind: 'keyless',
    clients: 100,
    seconds: 20,
    requests: 2 * waitingRequestsMax,
    statuses: ['401', '429', '431'],
    isCutOff: true,
    growthMibMax: 1_600,
  }),
  flood({
    name: 'huge-heads',
    title: 'Requests with a megabyte of headers, address, trailers or chunk extensions',
    kind: 'huge',
    clients: 50,
    seconds: 20,
    requests: 1,
    statuses: ['401', '413', '429', '431'],
    // A client that is still sending may receive the reset before it reads the answer.
    isCutOff: null,
    growthMibMax: 400,
  }),
  flood({
    name: 'wrong-keys',
    title: 'Requests with wrong keys, a different key each time, from many addresses',
    kind: 'wrongKey',
    clients: 10,
    seconds: 60,
    requests: 50,
    statuses: ['401', '429'],
    isCutOff: false,
    growthMibMax: 400,
  }),
];
