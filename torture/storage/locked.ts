import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { createEmbeddedStore, requireWhole } from '../embedded-store.ts';
import { requireKept, startLoad } from '../load.ts';
import type { Scenario } from '../scenario.ts';
import { requireFewLines } from './log-lines.ts';

/** One lock is shorter and one is longer than the 10 s that an add waits. */
const shortLockMs = 3_000;
const longLockMs = 13_000;

export const locked: Scenario = {
  name: 'locked',
  title: 'another process holds the lock of the store under load, for a short time and for a long one',
  minutes: 2,
  async run(context) {
    const store = createEmbeddedStore(context, `${context.folder}/store.db`);
    const { key } = await store.createKey();
    const service = await store.start();
    const other = new DatabaseSync(store.file, { timeout: 10_000 });
    context.after(() => other.isOpen && other.close());
    const load = await startLoad(context, service, key, { writers: 16, readers: 8, prefix: 'locked' });
    await load.until('add 201', 100);

    async function hold(ms: number): Promise<number> {
      other.exec('begin exclusive');
      load.begin();
      await pause(ms);
      await load.until('read 200', 100);
      other.exec('rollback');
      const freeAtMs = performance.now();
      const before = load.seen.get('add 201') ?? 0;
      await load.until('add 201', before + 1);
      return Math.round(performance.now() - freeAtMs);
    }

    const shortMs = Math.max(300, shortLockMs * context.scale);
    const firstWellMs = await hold(shortMs);
    if (load.seen.has('add 503')) throw new Error(`a lock of ${shortMs} ms was answered with 503`);
    // The 10 s are fixed, so a short run skips this part.
    const isLong = context.scale >= 1;
    const secondWellMs = isLong ? await hold(longLockMs) : 0;
    const refused = load.seen.get('add 503') ?? 0;
    if (isLong && refused === 0) throw new Error('no add was refused although the lock was held for long');

    const answered = await load.stop();
    const lines = requireFewLines(service.readLog());
    const { code } = await service.end('SIGTERM');
    if (code !== 0) throw new Error(`the service ended with ${code}: ${service.readLog()}`);
    requireKept(store, answered);
    requireWhole(store);
    const long = isLong ? ` and ${longLockMs / 1_000} s` : '';
    return {
      done: `Another process held \`BEGIN EXCLUSIVE\` for ${shortMs / 1_000} s${long} under load`,
      seen: `Adds waited${isLong ? ', and got 503 `unavailable` after 10 s' : ''}; reads as before`,
      lost: `None of ${answered.size} answered adds`,
      well: `${Math.max(firstWellMs, secondWellMs)} ms after the lock was released`,
      figures: { refused, 'log lines': lines },
    };
  },
};
