import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { waitingRequestsMax } from '../../src/http/connection/connections.ts';
import type { Scenario } from '../scenario.ts';
import { abuse, share } from './abuse.ts';
import type { FloodOrder, FloodSum } from './flooder.ts';

const floodSeconds = 20;
const request = 'GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n';

interface Flood {
  readonly name: string;
  readonly title: string;
  readonly clients: number;
  /** Number of requests that each client sends at once. */
  readonly requests: number;
  readonly text: string;
  readonly isCutOff: boolean;
}

/** Creates a scenario whose clients reconnect and send again without a pause. */
function flood({ name, title, clients: all, requests, text, isCutOff }: Flood): Scenario {
  return abuse({
    name,
    title,
    minutes: 2,
    growthMibMax: 1_600,
    async misbehave({ scale }, { host, port }) {
      const seconds = floodSeconds * scale;
      const clients = share(all, scale);
      const order: FloodOrder = { host, port, clients, seconds, text, requests };
      const worker = new Worker(new URL('flooder.ts', import.meta.url), { workerData: order });
      const [sum] = (await once(worker, 'message')) as [FloodSum];
      assert.equal(sum.cut > 0, isCutOff, JSON.stringify(sum));
      return {
        done: `${clients} clients without a key sent ${sum.bursts} bursts of ${requests} requests (${text.length} bytes each) in ${seconds} s`,
        seen: isCutOff
          ? `${sum.answers} × 401, 429 or 431, ${sum.cut} bursts were cut off`
          : `${sum.answers} × 401 or 429`,
        well: 'at once',
        figures: { 'answers/s': Math.round(sum.answers / seconds) },
      };
    },
  });
}

export const pipelinedFlood = flood({
  name: 'pipelined-flood',
  title: 'Requests without a key: each connection sends the maximum number of waiting requests at once',
  clients: 50,
  requests: waitingRequestsMax,
  text: request,
  isCutOff: false,
});

export const overlongFlood = flood({
  name: 'overlong-flood',
  title:
    'Requests without a key: each connection sends more than the maximum number of waiting requests at once',
  clients: 100,
  requests: 2 * waitingRequestsMax,
  text: request,
  isCutOff: true,
});
