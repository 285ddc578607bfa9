import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { defaultTimeouts } from '../../src/http/connection/bounds.ts';
import { createRandom } from '../random.ts';
import { Skipped } from '../scenario.ts';
import { loopbackAddress } from '../target.ts';
import { abuse, share } from './abuse.ts';
import { openCrowd } from './sockets.ts';

const lateMsMax = 15_000;
const idleCount = 10_000;

export const idleSockets = abuse({
  name: 'idle-sockets',
  title: 'Connections that are opened and send nothing',
  minutes: 3,
  growthMibMax: 500,
  async misbehave(context, target) {
    const count = share(idleCount, context.scale);
    requireDescriptors(count);
    const silent = await openCrowd(context, target, count);
    const startedMs = performance.now();
    await silent.untilClosed(count, defaultTimeouts.headersMs + lateMsMax);
    const silentSeconds = Math.round((performance.now() - startedMs) / 1_000);
    const waiting = await openCrowd(context, target, count);
    for (const socket of waiting.sockets) socket.write('GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n');
    const askedMs = performance.now();
    await waiting.untilClosed(count, defaultTimeouts.keepAliveMs + lateMsMax);
    const waitingSeconds = Math.round((performance.now() - askedMs) / 1_000);
    return {
      done: `${count} connections that sent nothing, then ${count} that sent one request`,
      seen: 'their connections were closed',
      well: `closed after ${silentSeconds} s and ${waitingSeconds} s`,
    };
  },
});

/** Throws Skipped if this process, whose limit the service inherits, may not open enough files for the connections. */
function requireDescriptors(count: number): void {
  const [, limit] = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  const needed = count + 100;
  if (Number(limit) < needed) throw new Skipped(`needs ${needed} open files, has ${limit} (ulimit -n)`);
}

const floodSeconds = 20;
const floodersCount = 100;

export const connectFlood = abuse({
  name: 'connect-flood',
  title: 'Connections that are opened and closed as fast as possible',
  minutes: 2,
  growthMibMax: 300,
  async misbehave({ seed, scale }, { host, port }) {
    const random = createRandom(seed);
    const endMs = performance.now() + floodSeconds * 1_000 * scale;
    let opened = 0;

    async function flood(): Promise<void> {
      while (performance.now() < endMs) {
        const socket = connect({ host, port, localAddress: loopbackAddress(opened % 200) });
        opened += 1;
        socket.on('error', () => {});
        const closed = once(socket, 'close');
        await once(socket, 'connect');
        const way = random.between(0, 2);
        if (way === 0) socket.end();
        else if (way === 1) socket.resetAndDestroy();
        else socket.end('GET /v1');
        socket.resume();
        await closed;
      }
    }

    await Promise.all(Array.from({ length: floodersCount }, flood));
    assert.ok(opened > floodersCount);
    return {
      done: `${opened} connections that were opened and at once closed, reset, or left in the middle of a head`,
      seen: 'no answer, 400 or 429',
      well: 'at once',
      figures: { 'connections/s': Math.round(opened / (floodSeconds * scale)) },
    };
  },
});
