import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { Skipped } from '../scenario.ts';
import { abuse, share } from './abuse.ts';

/** The modes of slowhttptest with their options. */
const ways: readonly (readonly [name: string, options: readonly string[]])[] = [
  ['slow heads', ['-H', '-i', '2']],
  ['slow bodies', ['-B', '-i', '2', '-s', '8192', '-t', 'POST']],
  ['ranges', ['-R', '-a', '10', '-b', '3000']],
  ['slow reading', ['-X', '-w', '1', '-y', '5', '-n', '2', '-z', '1', '-k', '3']],
];
const seconds = 25;
const connections = 1_000;

/** Runs Debian's slowhttptest next to the good client. The service must also answer the probes of slowhttptest. */
export const slowHttpTest = abuse({
  name: 'slowhttptest',
  title: 'slowhttptest: slow heads, slow bodies, ranges, slow reading',
  minutes: 4,
  growthMibMax: 300,
  async misbehave({ scale, after, log }, { url }) {
    if (spawnSync('slowhttptest', ['-h']).error) throw new Skipped('slowhttptest is not installed');
    const count = share(connections, scale);
    for (const [name, options] of ways) {
      const common = [
        '-c',
        String(count),
        '-r',
        String(count),
        '-p',
        '5',
        '-l',
        String(Math.max(5, seconds * scale)),
      ];
      const child = spawn('slowhttptest', [...options, ...common, '-u', `${url}/pets`]);
      after(() => child.kill('SIGKILL'));
      const [coloured] = await Promise.all([text(child.stdout), once(child, 'close')]);
      const output = stripVTControlCharacters(coloured);
      const verdicts = [...output.matchAll(/service available:\s*(YES|NO)/g)].map(([, answer]) => answer);
      log(`${name}: its probes found the service ${verdicts.join(' ')}`);
      assert.ok(verdicts.length > 0 && !verdicts.includes('NO'), `${name}: ${output.slice(-2_000)}`);
    }
    return {
      done: `slowhttptest in ${ways.length} ways (heads, bodies, ranges, reading), ${count} connections each`,
      seen: 'its probes were served all the time',
      well: 'at once',
    };
  },
});
