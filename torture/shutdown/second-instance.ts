import { createEmbeddedStore, killGroup, requireWhole } from '../embedded-store.ts';
import { requireKept, startLoad } from '../load.ts';
import { requireRefusal } from '../refusal.ts';
import type { Scenario } from '../scenario.ts';

const startsAtFullScale = 10;

export const secondInstance: Scenario = {
  name: 'second-instance',
  title:
    'a second service is started on the same file while the first one runs, and again after the first one was killed',
  minutes: 3,
  async run(context) {
    const store = createEmbeddedStore(context, `${context.folder}/store.db`);
    const { key } = await store.createKey();
    const first = await store.start();
    const load = await startLoad(context, first, key, { writers: 16, readers: 4, prefix: 'first' });
    const starts = Math.max(1, Math.round(startsAtFullScale * context.scale));
    for (let start = 0; start < starts; start += 1) {
      const line = await requireRefusal(store);
      if (!line.startsWith('another service is serving the database'))
        throw new Error(`the refusal has another reason: ${line}`);
    }
    await load.until('add 201', 100);
    if (load.seen.has('add 503')) throw new Error('the first was disturbed by the second');
    const answered = await load.stop();
    killGroup(first.child);
    await first.end();
    const killedAtMs = performance.now();
    const second = await store.start();
    const takeoverMs = Math.round(performance.now() - killedAtMs);
    requireKept(store, answered);
    requireWhole(store);
    await second.end('SIGTERM');
    return {
      done: `A second service started on the same SQLite file ${starts} times, then once after SIGKILL of the first`,
      seen: 'Nothing: the second was refused with one line and exit code 1',
      lost: `None of ${answered.size} answered adds`,
      well: `After the kill the second served within ${takeoverMs} ms of its start`,
      figures: { starts, takeoverMs },
    };
  },
};
