import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { defaultTimeouts, headersMax } from '../../src/http/connection/bounds.ts';
import { waitingRequestsMax } from '../../src/http/connection/connections.ts';
import { until } from '../../test/support/processes.ts';
import { type Abuse, abuse, share } from './abuse.ts';
import type { FloodOrder, FloodSum } from './flooder.ts';
import { openCrowd } from './sockets.ts';

const floodSeconds = 20;
const request = withHeaders(1);

/** Formats a request with `count` headers. Each has a different name. */
function withHeaders(count: number): string {
  const more = Array.from({ length: count - 1 }, (_, n) => `X${n}:\r\n`);
  return `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${more.join('')}\r\n`;
}

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
function flood({ name, title, clients: all, requests, text, isCutOff }: Flood): Abuse {
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

export const heavyFlood = flood({
  name: 'heavy-flood',
  title:
    'Requests without a key and with nearly the maximum number of headers, many at once on each connection',
  clients: 500,
  requests: 100,
  text: withHeaders(headersMax - 1),
  isCutOff: false,
});

export const tooHeavyFlood = flood({
  name: 'too-heavy-flood',
  title: 'Requests without a key and with far too many headers, many at once on each connection',
  clients: 500,
  requests: 5,
  text: withHeaders(2_000),
  isCutOff: true,
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

export const unreadFlood = abuse({
  name: 'unread-flood',
  title: 'Requests without a key by clients that read no answer',
  minutes: 3,
  growthMibMax: 1_500,
  async misbehave(context, target) {
    const crowd = await openCrowd(context, target, share(200, context.scale), { isReading: false });
    const startedMs = performance.now();
    const flooding = setInterval(() => {
      for (const socket of crowd.sockets)
        if (!socket.destroyed && !socket.writableNeedDrain) socket.write(request.repeat(500));
    }, 500);
    context.after(() => clearInterval(flooding));
    await until(
      async () => target.countDescriptors(),
      (open) => open < 60,
      2 * defaultTimeouts.untakenMs + 20_000,
    );
    clearInterval(flooding);
    return {
      done: `${crowd.sockets.length} connections, each of which sent 500 requests without a key every half second and read no answer`,
      seen: 'their connections were closed',
      well: `all were closed after ${Math.round((performance.now() - startedMs) / 1_000)} s`,
    };
  },
});
