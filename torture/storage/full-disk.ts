import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createEmbeddedStore, requireWhole } from '../embedded-store.ts';
import { readDayUsed } from '../kill/counts.ts';
import { requireKept, startLoad } from '../load.ts';
import type { Scenario, TortureContext } from '../scenario.ts';
import { requireFewLines } from './log-lines.ts';
import { mountSmallDisk } from './mount.ts';

const sizeMib = 16;
const refusedAtFullScale = 10_000;

export const fullDisk: Scenario = {
  name: 'full-disk',
  title: 'the disk of the store is full, and has space again',
  minutes: 3,
  async run(context) {
    const disk = join(context.folder, 'disk');
    mountSmallDisk(context, disk, sizeMib);
    const store = createEmbeddedStore(context, join(disk, 'store.db'));
    const { key } = await store.createKey();
    const service = await store.start();
    const load = await startLoad(context, service, key, { writers: 16, readers: 8, prefix: 'full' });
    await load.until('add 201', 100);

    fill(context, disk);
    const refused = Math.max(200, Math.round(refusedAtFullScale * context.scale));
    await load.until('add 503', 1);
    load.begin();
    await load.until('add 503', refused);
    await load.until('read 200', 100);
    const figures = Object.fromEntries(load.seen);
    const logged = requireFewLines(service.readLog());

    rmSync(join(disk, 'filler'));
    const freedAtMs = performance.now();
    load.begin();
    await load.until('add 201', 1);
    const wellMs = Math.round(performance.now() - freedAtMs);
    const answered = await load.stop();
    const used = await readDayUsed(service, key);
    if (used !== load.countAnswers() + 1)
      throw new Error(`${load.countAnswers() + 1} requests were answered, and ${used} counted`);
    const { code } = await service.end('SIGTERM');
    if (code !== 0) throw new Error(`the service ended with ${code}: ${service.readLog()}`);
    requireKept(store, answered);
    requireWhole(store);
    const kept = await readDayUsed(await store.start(), key);
    if (kept !== used + 1) throw new Error(`${used} requests were counted, and after a restart ${kept - 1}`);
    return {
      done: `The disk of the store filled under load (${sizeMib} MiB), then freed`,
      seen: 'Adds: 503 `unavailable` at once, with `Retry-After: 1` and the rate limit headers; reads as before',
      lost: `None of ${answered.size} answered adds; the counts stayed exact, even after a restart`,
      well: `${wellMs} ms after space was free, without a restart`,
      figures: { ...figures, 'log lines': logged, wellMs },
    };
  },
};

/** Fills the rest of the disk. */
function fill({ log }: TortureContext, disk: string): void {
  const file = openSync(join(disk, 'filler'), 'w');
  let written = 0;
  try {
    for (const size of [65_536, 4_096, 1]) {
      const block = Buffer.alloc(size);
      try {
        for (;;) written += writeSync(file, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(file);
  }
  log(`${written} bytes filled the disk`);
}
