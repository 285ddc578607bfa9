import { readFileSync } from 'node:fs';
import { addAsk, askFor, readAsk, warmUp } from '../beside.ts';
import { startClients } from '../clients.ts';
import { noFailures } from '../figures.ts';
import { amplePlan, issueKeys, withService } from '../ground.ts';
import type { Row } from '../row.ts';

const connections = 9_000;
const otherDescriptors = 200;
const memoryMibMax = 768;
/** In a container with that much memory, Node lets the heap take half of it. */
const nodeFlags = [`--max-old-space-size=${memoryMibMax / 2}`];
const lookMs = 100;

export const slowBodies: Row = {
  name: 'slow-bodies',
  title: '9,000 slow bodies of 65,536 bytes, all of one key, in 768 MiB',
  engine: 'SQLite',
  async measure(ground, note) {
    requireDescriptors(connections + otherDescriptors);
    const { key, seconds } = ground;
    const [slowKey = ''] = await issueKeys(ground, 1, amplePlan);
    return await withService(
      ground,
      async ({ origin, readMemoryMib, ended }) => {
        let isAlive = true;
        void ended.then(() => {
          isAlive = false;
        });
        await warmUp(origin, key);
        let peakMib = 0;
        const looking = setInterval(() => {
          peakMib = Math.max(peakMib, readMemoryMib());
        }, lookMs);
        const bodies = await startClients({ kind: 'slow-bodies', origin, connections, key: slowKey });
        const asked = await askFor([readAsk(origin, key), addAsk(origin, key)], seconds);
        note('bodies', await bodies.stop());
        clearInterval(looking);
        note('read, add', asked);
        const [read, add] = asked;
        return [
          { goal: 'read: p99', value: read.p99Ms, max: 1_000, unit: 'ms' },
          { goal: 'add: p99', value: add.p99Ms, max: 1_000, unit: 'ms' },
          noFailures(asked),
          { goal: 'memory (RSS)', value: peakMib, max: memoryMibMax, unit: 'MiB' },
          { goal: 'ended processes', value: isAlive ? 0 : 1, max: 0, unit: '' },
        ];
      },
      { nodeFlags },
    );
  },
};

/** Throws if a process may not open that many files. Node raises the soft limit to the hard one, which counts here. */
function requireDescriptors(needed: number): void {
  if (process.platform !== 'linux') return;
  const [, limit] = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  if (limit !== 'unlimited' && Number(limit) < needed)
    throw new Error(`a process needs ${needed} open files and may have ${limit}: raise ulimit -Hn`);
}
