import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createEmbeddedStore, requireWhole } from '../embedded-store.ts';
import { requireKept, startLoad } from '../load.ts';
import type { Scenario } from '../scenario.ts';
import { requireFewLines } from './log-lines.ts';

export const removed: Scenario = {
  name: 'removed',
  title: 'the folder of the store is moved away under load and put back, then its -wal is deleted',
  minutes: 2,
  async run(context) {
    const folder = join(context.folder, 'data');
    const store = createEmbeddedStore(context, join(folder, 'store.db'));
    const { key } = await store.createKey();
    const service = await store.start();
    const load = await startLoad(context, service, key, { writers: 16, readers: 8, prefix: 'removed' });
    await load.until('add 201', 100);

    await rename(folder, `${folder}-elsewhere`);
    await load.until('add 503', 200);
    load.begin();
    await load.until('add 503', 100);
    await load.until('read 200', 100);
    if (load.seen.has('add 201'))
      throw new Error('an add was answered with 201 while the store had no folder');
    if (existsSync(folder)) throw new Error('the folder was created again');
    if (!service.readLog().includes('is not the file that was opened'))
      throw new Error('no log line names the cause');

    await rename(`${folder}-elsewhere`, folder);
    const backAtMs = performance.now();
    load.begin();
    await load.until('add 201', 1);
    const wellMs = Math.round(performance.now() - backAtMs);
    const answered = await load.stop();
    const lines = requireFewLines(service.readLog());
    requireKept(store, answered);

    await rm(`${store.file}-wal`);
    const second = await startLoad(context, service, key, { writers: 4, readers: 4, prefix: 'no wal' });
    await second.until('add 503', 20);
    const added = await second.stop();
    if (added.size > 0) throw new Error(`${added.size} adds were answered with 201 without a -wal`);
    await service.end('SIGTERM');
    const next = await store.start();
    requireWhole(store);
    requireKept(store, answered);
    await next.end('SIGTERM');
    return {
      done: 'The folder of the store was moved away under load and put back; then its `-wal` was deleted',
      seen: 'Adds: 503 `unavailable`; reads as before',
      lost: `None of ${answered.size} answered adds`,
      well: `${wellMs} ms after the folder was back; after the loss of the \`-wal\` only with a restart`,
      figures: { 'log lines': lines, wellMs },
    };
  },
};
