import { ask } from '../../test/support/instances.ts';
import type { ServiceProcess } from '../../test/support/processes.ts';
import { createEmbeddedStore, requireWhole } from '../embedded-store.ts';
import { requireKept, startLoad } from '../load.ts';
import type { Scenario } from '../scenario.ts';

const hourMs = 3_600_000;

/** Moves the clock of a process at each SIGUSR2: first an hour back, then two hours ahead, then an hour back. */
const movingClock = `
  const now = Date.now;
  const moves = [-${hourMs}, ${2 * hourMs}, -${hourMs}];
  let offset = 0;
  Date.now = () => now() + offset;
  process.on('SIGUSR2', () => { offset += moves.shift() ?? 0; console.error('the clock is moved by ' + offset); });
`;

const freePerMinute = 60;

export const clockBack: Scenario = {
  name: 'clock-back',
  title: 'the clock is set back an hour under load, then two hours ahead, then back',
  minutes: 1,
  async run(context) {
    const store = createEmbeddedStore(context, `${context.folder}/store.db`, { preload: movingClock });
    const { key } = await store.createKey();
    const free = JSON.parse((await store.run('keys', 'create', '--plan', 'free', '--json')).stdout) as {
      key: string;
    };
    const service = await store.start();
    const load = await startLoad(context, service, key, { writers: 8, readers: 8, prefix: 'clock' });
    for (let asked = 0; asked < freePerMinute; asked += 1) await take(service, free.key);
    const waits: number[] = [];
    for (const offset of [-hourMs, hourMs, 0]) {
      service.child.kill('SIGUSR2');
      await service.untilLogged(`the clock is moved by ${offset}`);
      waits.push(await take(service, free.key));
      load.begin();
      await load.until('add 201', 100);
      await load.until('read 200', 100);
      if (load.seen.has('add 503')) throw new Error('adds were refused');
    }
    if (waits.some((seconds) => seconds > 60))
      throw new Error(`a minute window was open for ${waits.join(', ')} s`);
    if (waits[0] === 0) throw new Error('after the clock was set back, an account got its full limit again');
    const answered = await load.stop();
    const { code } = await service.end('SIGTERM');
    if (code !== 0) throw new Error(`the service ended with ${code}`);
    requireKept(store, answered);
    requireWhole(store);
    return {
      done: 'The clock was set back an hour under load, then two hours ahead, then back',
      seen: `Nothing; an account at its limit waited ${waits[0]} s, not an hour, and got no extra requests`,
      lost: `None of ${answered.size} answered adds`,
      well: 'At once',
      figures: { 'seconds to wait after each move': waits.join(', ') },
    };
  },
};

/** Sends one request. Returns the seconds of `Retry-After` if it was refused, otherwise 0. */
async function take(service: ServiceProcess, key: string): Promise<number> {
  const response = await ask(service, key);
  await response.text();
  if (response.status !== 200 && response.status !== 429) throw new Error(`answered with ${response.status}`);
  return Number(response.headers.get('retry-after') ?? 0);
}
