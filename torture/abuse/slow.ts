import assert from 'node:assert/strict';
import { defaultTimeouts } from '../../src/http/connection/bounds.ts';
import { waitingRequestsMax } from '../../src/http/connection/connections.ts';
import { until } from '../../test/support/processes.ts';
import type { TortureContext } from '../scenario.ts';
import { abuse, share } from './abuse.ts';
import { type Crowd, openCrowd } from './sockets.ts';

/** Tolerance, because the service checks timeouts once a second and a busy machine delays the checks. */
const lateMsMax = 10_000;
const dripMs = 500;

/** Sends single bytes on every connection until the service has closed all. Returns the duration in seconds. */
async function drip(context: TortureContext, crowd: Crowd, withinMs: number): Promise<number> {
  const startedMs = performance.now();
  const dripping = setInterval(() => {
    for (const socket of crowd.sockets) if (socket.writable) socket.write('a');
  }, dripMs);
  context.after(() => clearInterval(dripping));
  await crowd.untilClosed(crowd.sockets.length, withinMs + lateMsMax);
  clearInterval(dripping);
  return Math.round((performance.now() - startedMs) / 100) / 10;
}

function countStatuses({ received }: Crowd): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of received) {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 'none';
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return counts;
}

function describeStatuses(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(', ');
}

export const slowHeads = abuse({
  name: 'slow-heads',
  title: 'Clients that send the head of a request byte by byte',
  minutes: 2,
  growthMibMax: 300,
  async misbehave(context, target) {
    const crowd = await openCrowd(context, target, share(4_000, context.scale));
    for (const socket of crowd.sockets) socket.write('GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ');
    const seconds = await drip(context, crowd, defaultTimeouts.headersMs);
    const counts = countStatuses(crowd);
    // The requests have no key, so the service answers 429 once an address has used up its limit.
    for (const status of counts.keys()) assert.ok(['408', '429'].includes(status), describeStatuses(counts));
    return {
      done: `Request heads, one byte every ${dripMs} ms, over ${crowd.sockets.length} connections`,
      seen: describeStatuses(counts),
      well: `all were closed after ${seconds} s`,
    };
  },
});

export const slowBodies = abuse({
  name: 'slow-bodies',
  title: 'Clients with a valid key that send a body byte by byte',
  minutes: 2,
  growthMibMax: 300,
  async misbehave(context, target) {
    const crowd = await openCrowd(context, target, share(4_000, context.scale));
    const { key } = await target.createKey();
    const head = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n`;
    for (const socket of crowd.sockets) socket.write(head);
    const seconds = await drip(context, crowd, defaultTimeouts.requestMs);
    const counts = countStatuses(crowd);
    assert.deepEqual([...counts.keys()], ['408'], describeStatuses(counts));
    return {
      done: `Bodies with a valid key, one byte every ${dripMs} ms, over ${crowd.sockets.length} connections`,
      seen: describeStatuses(counts),
      well: `all were closed after ${seconds} s`,
    };
  },
});

const pagesPerConnection = waitingRequestsMax;
/** Maximum number of open descriptors besides the connections of the crowd. The good client uses one of them. */
const otherDescriptorsMax = 60;

export const slowReaders = abuse({
  name: 'slow-readers',
  title: 'Clients with a valid key that request large pages and read no answer',
  minutes: 3,
  growthMibMax: 1_000,
  async misbehave(context, target) {
    const { key } = await target.createKey();
    const crowd = await openCrowd(context, target, share(500, context.scale), { isReading: false });
    const ask = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const startedMs = performance.now();
    for (const socket of crowd.sockets) socket.write(ask.repeat(pagesPerConnection));
    // These clients do not read, so they do not notice that a connection was closed. The service's descriptors show it.
    await until(
      async () => target.countDescriptors(),
      (open) => open < otherDescriptorsMax,
      2 * defaultTimeouts.untakenMs + lateMsMax,
    );
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    return {
      done: `${crowd.sockets.length} connections that requested ${pagesPerConnection} pages each and read no answer`,
      seen: 'their connections were closed',
      well: `all were closed after ${seconds} s`,
    };
  },
});
