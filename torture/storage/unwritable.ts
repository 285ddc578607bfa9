import { chmod, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { obeyPermissions } from '../../test/support/obey-permissions.ts';
import { createEmbeddedStore, type EmbeddedStore, requireWhole } from '../embedded-store.ts';
import { requireKept, startLoad } from '../load.ts';
import { requireRefusal } from '../refusal.ts';
import type { Outcome, Scenario, TortureContext } from '../scenario.ts';
import { requireFewLines } from './log-lines.ts';
import { mountReadOnly, requireSystem, runSystem } from './mount.ts';

export const unwritable: Scenario = {
  name: 'unwritable',
  title: 'the store is readable but not writable, from the start or from a later moment',
  minutes: 2,
  async run(context) {
    const folder = join(context.folder, 'data');
    await mkdir(folder);
    const store = createEmbeddedStore(context, join(folder, 'store.db'));
    const { key } = await store.createKey();
    const refusals = [await startReadOnly(context, folder), await startWithoutPermission(context, store)];
    for (const line of refusals) context.log(line);
    return await makeImmutable(context, store, key);
  },
};

function startReadOnly(context: TortureContext, folder: string): Promise<string> {
  const place = join(context.folder, 'read-only');
  mountReadOnly(context, folder, place);
  return requireRefusal(createEmbeddedStore(context, join(place, 'store.db')));
}

/** Starts a service while the permissions of the folder and of the file forbid writing. */
async function startWithoutPermission(context: TortureContext, { file }: EmbeddedStore): Promise<string> {
  requireSystem(...obeyPermissions, process.execPath, '--version');
  const folder = dirname(file);
  await chmod(file, 0o444);
  await chmod(folder, 0o555);
  const refusal = await requireRefusal(createEmbeddedStore(context, file, { wrapper: obeyPermissions }));
  await chmod(folder, 0o755);
  await chmod(file, 0o644);
  return refusal;
}

/** Makes the files of the store immutable under load. Throws Skipped if the file system does not support that. */
async function makeImmutable(context: TortureContext, store: EmbeddedStore, key: string): Promise<Outcome> {
  const service = await store.start();
  const load = await startLoad(context, service, key, { writers: 8, readers: 8, prefix: 'read-only' });
  await load.until('add 201', 100);
  const files = [store.file, `${store.file}-wal`];
  context.after(() => runSystem('chattr', '-i', ...files));
  requireSystem('chattr', '+i', ...files);
  await load.until('add 503', 1);
  load.begin();
  await load.until('add 503', 100);
  await load.until('read 200', 100);
  if (load.seen.has('add 201'))
    throw new Error('an add was answered with 201 although nothing can be written');
  requireSystem('chattr', '-i', ...files);
  const freeAtMs = performance.now();
  load.begin();
  await load.until('add 201', 1);
  const wellMs = Math.round(performance.now() - freeAtMs);
  const answered = await load.stop();
  const lines = requireFewLines(service.readLog());
  const { code } = await service.end('SIGTERM');
  if (code !== 0) throw new Error(`the service ended with ${code}: ${service.readLog()}`);
  requireKept(store, answered);
  requireWhole(store);
  return {
    done: 'A store on a read-only file system; a user without write permission; files made immutable under load',
    seen: 'The service did not start: one line, exit code 1. Under load, adds got 503 `unavailable`; reads as before',
    lost: `None of ${answered.size} answered adds`,
    well: `${wellMs} ms after the store was writable again, without a restart`,
    figures: { 'log lines': lines, wellMs },
  };
}
