import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { defaultTimeouts } from '../../src/http/http-server.ts';
import { waitingRequestsMax } from '../../src/http/in-turn.ts';
import { until } from '../../test/support/processes.ts';
import type { Scenario } from '../scenario.ts';
import { loopbackAddress, type Target } from '../target.ts';
import { abuse, share } from './abuse.ts';
import { openCrowd } from './sockets.ts';

const floodSeconds = 20;
const request = 'GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n';

interface Burst {
  readonly answers: number;
  readonly isCut: boolean;
}

/** Sends requests all at once on a connection of its own, and waits for their answers or the end. */
function burst({ host, port }: Target, number: number, text: string, requests: number): Promise<Burst> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress: loopbackAddress(number % 250) });
    let answers = 0;
    socket.setEncoding('latin1').on('data', (text: string) => {
      // An answer's first line may come in two pieces, which its blank line in the middle of two cannot.
      answers += text.split('x-request-id').length - 1;
      if (answers >= requests) socket.end();
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve({ answers, isCut: answers < requests }));
    socket.write(text.repeat(requests));
  });
}

/** A flood by so many clients; each comes again at once. */
function flood(
  name: string,
  title: string,
  all: number,
  requests: number,
  isCutOff: boolean,
  text = request,
): Scenario {
  return abuse({
    name,
    title,
    minutes: 2,
    growthMibMax: 1_000,
    async misbehave({ scale }, target) {
      const seconds = floodSeconds * scale;
      const endMs = performance.now() + seconds * 1_000;
      const clients = share(all, scale);
      const sum = { bursts: 0, answers: 0, cut: 0 };
      const behave = async () => {
        while (performance.now() < endMs) {
          const { answers, isCut } = await burst(target, sum.bursts, text, requests);
          sum.bursts += 1;
          sum.answers += answers;
          sum.cut += Number(isCut);
        }
      };
      await Promise.all(Array.from({ length: clients }, behave));
      assert.equal(sum.cut > 0, isCutOff, JSON.stringify(sum));
      return {
        done: `${sum.bursts} bursts of ${requests} requests of ${text.length} bytes without a key by ${clients} clients in ${seconds} s`,
        seen: isCutOff ? `${sum.cut} times they were cut off` : `${sum.answers} × 401 or 429`,
        well: 'at once',
        figures: { 'answers/s': Math.round(sum.answers / seconds) },
      };
    },
  });
}

export const pipelinedFlood = flood(
  'pipelined-flood',
  'Requests without a key, as many at once on each connection as may wait',
  50,
  waitingRequestsMax,
  false,
);

export const heavyFlood = flood(
  'heavy-flood',
  'Requests without a key and with 1,900 headers each, many at once on each connection',
  200,
  100,
  false,
  request.replace('\r\n\r\n', `\r\n${'a: b\r\n'.repeat(1_900)}\r\n`),
);

export const overlongFlood = flood(
  'overlong-flood',
  'Requests without a key, more at once on each connection than may wait',
  100,
  2 * waitingRequestsMax,
  true,
);

export const unreadFlood: Scenario = abuse({
  name: 'unread-flood',
  title: 'Requests without a key by clients that take no answer',
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
      () => pause(100).then(target.countDescriptors),
      (open) => open < 60,
      2 * defaultTimeouts.untakenMs + 20_000,
    );
    clearInterval(flooding);
    return {
      done: `500 requests without a key each half a second over each of ${crowd.sockets.length} connections, no answer taken`,
      seen: 'they were cut off',
      well: `all were closed after ${Math.round((performance.now() - startedMs) / 1_000)} s`,
    };
  },
});
