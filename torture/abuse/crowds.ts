import { readFileSync } from 'node:fs';
import { defaultTimeouts } from '../../src/http/connection/bounds.ts';
import { Skipped } from '../scenario.ts';
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
