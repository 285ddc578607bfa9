import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { obeyPermissions } from '../../test/support/obey-permissions.ts';
import { readDayUsed } from '../kill/counts.ts';
import { requireKept, startLoad } from '../load.ts';
import { requireRefusal } from '../refusal.ts';
import { type Scenario, share, type TortureContext } from '../scenario.ts';
import { createEmbeddedStore, type EmbeddedStore, requireWhole } from '../store.ts';
import { startUnderLoad } from '../under-load.ts';
import { mountReadOnly, mountSmallDisk, requireSystem, runSystem } from './mount.ts';

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
    const loaded = await startUnderLoad(context, store);
    const { key, load } = loaded;
    fill(join(disk, 'filler'));
    await loaded.untilRefused(share(refusedAtFullScale, context, 200));
    rmSync(join(disk, 'filler'));
    const wellMs = await loaded.untilAdded();
    const kept = await loaded.finish();
    const used = await readDayUsed(await store.start(), key);
    if (used !== load.countAnswers() + 1)
      throw new Error(
        `${load.countAnswers()} requests were answered, and after a restart ${used - 1} counted`,
      );
    return {
      done: `The disk of the store filled under load (${sizeMib} MiB), then freed`,
      seen: 'Adds: 503 `unavailable` at once, with `Retry-After: 1` and the rate limit headers; reads as before',
      lost: `None of ${kept.size} answered adds; the counts stayed exact, even after a restart`,
      well: `${wellMs} ms after space was free, without a restart`,
    };
  },
};

/** Fills the rest of the disk with a file. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  for (const size of [65_536, 4_096, 1])
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  closeSync(file);
}

/** Skipped if the file system does not support immutable files. */
export const unwritable: Scenario = {
  name: 'unwritable',
  title: 'the store is readable but not writable, from the start or from a later moment',
  minutes: 2,
  async run(context) {
    const folder = join(context.folder, 'data');
    await mkdir(folder);
    const store = createEmbeddedStore(context, join(folder, 'store.db'));
    await store.createKey();
    const place = join(context.folder, 'read-only');
    mountReadOnly(context, folder, place);
    await requireRefusal(createEmbeddedStore(context, join(place, 'store.db')));
    await startWithoutPermission(context, store);

    const loaded = await startUnderLoad(context, store);
    const files = [store.file, `${store.file}-wal`];
    context.after(() => runSystem('chattr', '-i', ...files));
    requireSystem('chattr', '+i', ...files);
    await loaded.untilRefused(100);
    requireSystem('chattr', '-i', ...files);
    const wellMs = await loaded.untilAdded();
    const kept = await loaded.finish();
    return {
      done: 'A store on a read-only file system; a user without write permission; files made immutable under load',
      seen: 'The service did not start: one line, exit code 1. Under load, adds got 503 `unavailable`; reads as before',
      lost: `None of ${kept.size} answered adds`,
      well: `${wellMs} ms after the store was writable again, without a restart`,
    };
  },
};

/** Starts a service while the permissions of the folder and of the file forbid writing. */
async function startWithoutPermission(context: TortureContext, { file }: EmbeddedStore): Promise<void> {
  requireSystem(...obeyPermissions, process.execPath, '--version');
  await chmod(file, 0o444);
  await chmod(dirname(file), 0o555);
  await requireRefusal(createEmbeddedStore(context, file, { wrapper: obeyPermissions }));
  await chmod(dirname(file), 0o755);
  await chmod(file, 0o644);
}

export const removed: Scenario = {
  name: 'removed',
  title: 'the folder of the store is moved away under load and put back, then its -wal is deleted',
  minutes: 2,
  async run(context) {
    const folder = join(context.folder, 'data');
    const store = createEmbeddedStore(context, join(folder, 'store.db'));
    const loaded = await startUnderLoad(context, store);
    await rename(folder, `${folder}-elsewhere`);
    await loaded.untilRefused(300);
    if (existsSync(folder)) throw new Error('the folder was created again');
    if (!loaded.services[0]?.readLog().includes('is not the file that was opened'))
      throw new Error('no log line names the cause');
    await rename(`${folder}-elsewhere`, folder);
    const wellMs = await loaded.untilAdded();
    const kept = await loaded.finish();

    const service = await store.start();
    const load = startLoad(context, [service], loaded.key, { writers: 4, readers: 4, prefix: 'no wal' });
    await load.until('add 201', 10);
    await rm(`${store.file}-wal`);
    await load.until('add 503', 20);
    load.begin();
    await load.until('add 503', 20);
    if (load.count('add 201') > 0) throw new Error('an add was answered with 201 without a -wal');
    await load.stop();
    await service.end('SIGTERM');
    await (await store.start()).end('SIGTERM');
    await requireWhole(store);
    await requireKept(store, kept);
    return {
      done: 'The folder of the store was moved away under load and put back; then its `-wal` was deleted',
      seen: 'Adds: 503 `unavailable`; reads as before',
      lost: `None of ${kept.size} answered adds`,
      well: `${wellMs} ms after the folder was back; after the loss of the \`-wal\` only with a restart`,
    };
  },
};

/** One lock is shorter and one is longer than the 10 s that an add waits. */
const shortLockMs = 3_000;
const longLockMs = 13_000;

export const locked: Scenario = {
  name: 'locked',
  title: 'another process holds the lock of the store under load, for a short time and for a long one',
  minutes: 2,
  async run(context) {
    const store = createEmbeddedStore(context, `${context.folder}/store.db`);
    const loaded = await startUnderLoad(context, store);
    const { load } = loaded;
    const other = new DatabaseSync(store.file, { timeout: 10_000 });
    context.after(() => other.isOpen && other.close());

    async function hold(ms: number): Promise<number> {
      other.exec('begin exclusive');
      load.begin();
      await pause(ms);
      await load.until('read 200', 100);
      const refused = load.count('add 503');
      other.exec('rollback');
      await loaded.untilAdded();
      return refused;
    }

    const shortMs = share(shortLockMs, context, 300);
    if ((await hold(shortMs)) > 0) throw new Error(`a lock of ${shortMs} ms was answered with 503`);
    // The 10 s are fixed, so a short run skips the long lock.
    const isLong = context.scale >= 1;
    if (isLong && (await hold(longLockMs)) === 0) throw new Error('no add was refused under a long lock');
    const kept = await loaded.finish();
    const long = isLong ? ` and ${longLockMs / 1_000} s` : '';
    return {
      done: `Another process held \`BEGIN EXCLUSIVE\` for ${shortMs / 1_000} s${long} under load`,
      seen: `Adds waited${isLong ? ', and got 503 `unavailable` after 10 s' : ''}; reads as before`,
      lost: `None of ${kept.size} answered adds`,
      well: 'When the lock was released',
    };
  },
};
