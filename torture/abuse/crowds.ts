import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { defaultTimeouts } from '../../src/http/connection/bounds.ts';
import { waitingRequestsMax } from '../../src/http/connection/connections.ts';
import { until } from '../../test/support/processes.ts';
import { startLoad } from '../load.ts';
import { type Scenario, Skipped, share, type TortureContext } from '../scenario.ts';
import { startTarget } from '../target.ts';
import { abuse } from './abuse.ts';
import { type Crowd, openCrowd, requireDescriptors } from './sockets.ts';

/** Tolerance, because the service checks timeouts once a second and a busy machine delays the checks. */
const lateMsMax = 15_000;
const dripMs = 500;
const rareDripMs = 5_000;

const secondsSince = (startedMs: number) => Math.round((performance.now() - startedMs) / 100) / 10;

/** Sends a text and then single bytes on every connection, until the service has closed all. */
async function drip(context: TortureContext, crowd: Crowd, text: string, withinMs: number, everyMs = dripMs) {
  const startedMs = performance.now();
  for (const socket of crowd.sockets) socket.write(text);
  const dripping = setInterval(() => {
    for (const socket of crowd.sockets) if (socket.writable) socket.write('a');
  }, everyMs);
  context.after(() => clearInterval(dripping));
  await crowd.untilClosed(crowd.sockets.length, withinMs + lateMsMax);
  clearInterval(dripping);
  const statuses = new Map<string, number>();
  for (const received of crowd.received) {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 'none';
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return {
    statuses: [...statuses.keys()],
    seen: [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '),
    well: `all were closed after ${secondsSince(startedMs)} s`,
  };
}

export const slowHeads = abuse({
  name: 'slow-heads',
  title: 'Clients that send the head of a request byte by byte',
  minutes: 2,
  growthMibMax: 300,
  async misbehave(context, target) {
    const crowd = await openCrowd(context, target, share(4_000, context));
    const text = 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ';
    const { statuses, ...dripped } = await drip(context, crowd, text, defaultTimeouts.headersMs);
    // The requests have no key, so the service answers 429 once an address has used up its limit.
    for (const status of statuses) assert.ok(['408', '429'].includes(status), dripped.seen);
    const done = `Request heads, one byte every ${dripMs} ms, over ${crowd.sockets.length} connections`;
    return { done, ...dripped };
  },
});

export const slowBodies = abuse({
  name: 'slow-bodies',
  title: 'Clients with a valid key that send a body byte by byte',
  minutes: 2,
  growthMibMax: 300,
  async misbehave(context, target) {
    const crowd = await openCrowd(context, target, share(4_000, context));
    const { key } = await target.store.createKey();
    const text = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n`;
    const { statuses, ...dripped } = await drip(context, crowd, text, defaultTimeouts.requestMs);
    assert.deepEqual(statuses, ['408'], dripped.seen);
    const done = `Bodies with a valid key, one byte every ${dripMs} ms, over ${crowd.sockets.length} connections`;
    return { done, ...dripped };
  },
});

export const longBodies = abuse({
  name: 'long-bodies',
  title: 'Clients with a valid key that send long bodies without their end',
  minutes: 3,
  growthMibMax: 500,
  mayRefuse: true,
  async misbehave(context, target) {
    const crowd = await openCrowd(context, target, share(9_000, context));
    const { key } = await target.store.createKey();
    const head = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const text = `${head}Content-Length: 65000\r\n\r\n${'a'.repeat(60_000)}`;
    const { statuses, ...dripped } = await drip(context, crowd, text, defaultTimeouts.requestMs, rareDripMs);
    for (const status of statuses) assert.ok(['408', '503'].includes(status), dripped.seen);
    const done = `60,000 of 65,000 bytes of a body with a valid key, then one byte every ${rareDripMs} ms, over ${crowd.sockets.length} connections`;
    return { done, ...dripped };
  },
});

/** Maximum number of open descriptors besides the connections of the crowd. The good client uses one of them. */
const otherDescriptorsMax = 60;

export const slowReaders = abuse({
  name: 'slow-readers',
  title: 'Clients with a valid key that request large pages and read no answer',
  minutes: 3,
  growthMibMax: 1_000,
  async misbehave(context, target) {
    const { key } = await target.store.createKey();
    const crowd = await openCrowd(context, target, share(500, context), { isReading: false });
    const ask = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const startedMs = performance.now();
    for (const socket of crowd.sockets) socket.write(ask.repeat(waitingRequestsMax));
    // These clients do not read, so they do not notice that a connection was closed. The service's descriptors show it.
    await until(
      async () => target.countDescriptors(),
      (open) => open < otherDescriptorsMax,
      2 * defaultTimeouts.untakenMs + lateMsMax,
    );
    return {
      done: `${crowd.sockets.length} connections that requested ${waitingRequestsMax} pages each and read no answer`,
      seen: 'their connections were closed',
      well: `all were closed after ${secondsSince(startedMs)} s`,
    };
  },
});

export const idleSockets = abuse({
  name: 'idle-sockets',
  title: 'Connections that are opened and send nothing',
  minutes: 3,
  growthMibMax: 500,
  async misbehave(context, target) {
    const count = share(10_000, context);
    requireDescriptors(count);
    const silent = await openCrowd(context, target, count);
    const silentMs = performance.now();
    await silent.untilClosed(count, defaultTimeouts.headersMs + lateMsMax);
    const silentSeconds = secondsSince(silentMs);
    const waiting = await openCrowd(context, target, count);
    for (const socket of waiting.sockets) socket.write('GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n');
    const askedMs = performance.now();
    await waiting.untilClosed(count, defaultTimeouts.keepAliveMs + lateMsMax);
    return {
      done: `${count} connections that sent nothing, then ${count} that sent one request`,
      seen: 'their connections were closed',
      well: `closed after ${silentSeconds} s and ${secondsSince(askedMs)} s`,
    };
  },
});

const descriptors = 256;

/** If the process has no descriptor left, it must serve the open connections and close new ones. */
export const fewDescriptors: Scenario = {
  name: 'few-descriptors',
  title: 'More connections than the process has descriptors for',
  minutes: 2,
  async run(context) {
    if (spawnSync('prlimit', ['--version']).error) throw new Skipped('prlimit is not installed');
    const target = await startTarget(context, {}, ['prlimit', `--nofile=${descriptors}:${descriptors}`]);
    const { key } = await target.store.createKey();
    const load = startLoad(context, [target], key, { writers: 1, readers: 1 });
    await load.until('add 201', 1);
    await load.until('read 200', 1);
    const crowd = await openCrowd(context, target, 2 * descriptors);
    await crowd.untilClosed(descriptors, 60_000);
    const requests = share(1_000, context);
    load.begin();
    await load.until('add 201', requests);
    await load.until('read 200', requests);
    await load.stop();
    crowd.destroy();
    const startedMs = performance.now();
    // The service refuses new clients until it notices that the others have disconnected.
    await until(
      () =>
        fetch(`${target.url}/pets`, { headers: { authorization: `Bearer ${key}` } }).then(
          ({ ok }) => ok,
          () => false,
        ),
      Boolean,
      60_000,
    );
    assert.equal(target.child.exitCode, null);
    return {
      done: `${2 * descriptors} connections to a process that may open ${descriptors} files`,
      seen: `Connected clients: ${2 * requests} × 200 and 201. New connections: ${descriptors} or more were closed`,
      lost: 'nothing',
      well: `${secondsSince(startedMs)} s after the other connections closed`,
    };
  },
};
