import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireFewLines, startLoad } from '../load.ts';
import { createRandom } from '../random.ts';
import { tryToStart } from '../refusal.ts';
import { type Scenario, share, type TortureContext } from '../scenario.ts';
import { createEmbeddedStore, type EmbeddedStore, requireWhole } from '../store.ts';
import { type Damage, damages } from './damage.ts';
import { probe } from './probe.ts';

const roundsAtFullScale = 10;
const imported = 4_000;

/** A store after a kill, with the answered names by id. */
interface Original {
  readonly store: EmbeddedStore;
  readonly key: string;
  readonly backup: string;
  readonly names: ReadonlyMap<bigint, string>;
}

/** The results of the starts on damaged stores. */
interface Tally {
  refused: number;
  served: number;
  /** Requests answered with 503. */
  unavailable: number;
  /** The greatest number of animals lost by damage to a -wal. */
  lostWithWal: number;
}

export const damaged: Scenario = {
  name: 'damaged',
  title: 'the files of a store that is not served are overwritten, cut off or deleted',
  minutes: 10,
  async run(context) {
    const original = await prepare(context);
    const random = createRandom(context.seed);
    const rounds = share(roundsAtFullScale, context);
    const tally: Tally = { refused: 0, served: 0, unavailable: 0, lostWithWal: 0 };
    for (let round = 0; round < rounds; round += 1)
      for (const damage of damages) {
        // Damage to the main file uses the backup, which has no -wal. A -wal could replace the damaged pages.
        const from = damage.isOfWal ? original.store.file : original.backup;
        const store = await copyStore(context, from, `${round} ${damage.name.replaceAll(' ', '-')}`);
        damage.apply(store.file, random);
        await face(context, { ...original, store }, damage, tally);
      }
    await restore(context, original);
    return {
      done: `A stopped store was damaged at random places, ${rounds} times each: ${damages.map(({ name }) => name).join(', ')}`,
      seen: `${tally.refused} starts were refused with one line and exit code 1. ${tally.served} services served the undamaged parts and answered 503 \`unavailable\` for the rest; none returned a wrong animal`,
      lost: `Main file damaged: the damaged parts, until the backup is restored. \`-wal\` damaged: only the newest adds (at most ${tally.lostWithWal})`,
      well: 'At once after the restore, with everything in the backup',
    };
  },
};

async function prepare(context: TortureContext): Promise<Original> {
  const folder = join(context.folder, 'original');
  await mkdir(folder);
  const store = createEmbeddedStore(context, join(folder, 'store.db'));
  const { key } = await store.createKey();
  const csv = join(context.folder, 'animals.csv');
  await writeFile(
    csv,
    `name,categoryId\n${Array.from({ length: imported }, (_, row) => `bulk ${row + 1},1\n`).join('')}`,
  );
  const backup = join(context.folder, 'backup.db');
  for (const args of [
    ['import', csv],
    ['backup', backup],
  ]) {
    const { code, stderr } = await store.run(...args);
    if (code !== 0) throw new Error(stderr);
  }
  const service = await store.start();
  const load = startLoad(context, [service], key, { writers: 4, readers: 0, prefix: 'late' });
  await load.until('add 201', 100);
  const late = await load.stop();
  await service.end('SIGKILL');
  const bulk = Array.from({ length: imported }, (_, row): [bigint, string] => [
    BigInt(row + 1),
    `bulk ${row + 1}`,
  ]);
  return { store, key, backup, names: new Map([...bulk, ...late]) };
}

async function copyStore(context: TortureContext, file: string, name: string): Promise<EmbeddedStore> {
  const folder = join(context.folder, name);
  await mkdir(folder);
  const copy = join(folder, 'store.db');
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) await copyFile(file + end, copy + end);
  return createEmbeddedStore(context, copy);
}

/** Starts a service on a damaged store and requests its animals. Every answer must be correct, 503 or 404. */
async function face(
  context: TortureContext,
  { store, key, names }: Original,
  { name, isOfWal }: Damage,
  tally: Tally,
): Promise<void> {
  const started = await tryToStart(store);
  if ('refusal' in started) {
    if (isOfWal) throw new Error(`a store with ${name} was refused: ${started.refusal}`);
    context.log(`${name}: ${started.refusal}`);
    tally.refused += 1;
    return;
  }
  tally.served += 1;
  const { service } = started;
  const found = await probe(context, service.url, key, names);
  tally.unavailable += found.refused;
  if (isOfWal) {
    if (found.refused > 0)
      throw new Error(`a store with ${name} answered ${found.refused} requests with 503`);
    await requireWhole(store);
    tally.lostWithWal = Math.max(tally.lostWithWal, await requirePrefix(store, names));
  }
  const { code } = await service.end('SIGTERM');
  if (code === null) throw new Error(`with ${name} the service did not end by itself`);
  requireFewLines(service.readLog());
}

/** Returns the number of missing animals. Throws unless they are the newest ones. */
async function requirePrefix({ query }: EmbeddedStore, names: ReadonlyMap<bigint, string>): Promise<number> {
  const ids = new Set((await query('select id from pets')).map(({ id }) => id as bigint));
  const kept = [...names.keys()].filter((id) => ids.has(id));
  const newest = kept.reduce((largest, id) => (id > largest ? id : largest), 0n);
  const gap = [...names.keys()].find((id) => id < newest && !ids.has(id));
  if (gap !== undefined) throw new Error(`the animal ${gap} is lost, and ${newest} is there`);
  return names.size - kept.length;
}

/**
 * Restores as docs/operations/backup-and-restore.md describes: replaces the file by the backup, without a -wal and a
 * -shm.
 */
async function restore(context: TortureContext, { backup, key, names }: Original): Promise<void> {
  const folder = join(context.folder, 'restored');
  await mkdir(folder);
  await copyFile(backup, join(folder, 'store.db'));
  const store = createEmbeddedStore(context, join(folder, 'store.db'));
  const service = await store.start();
  const bulk = new Map([...names].slice(0, imported));
  const { refused, missing } = await probe(context, service.url, key, bulk);
  if (refused + missing > 0) throw new Error(`a restored store lacks ${missing} and refuses ${refused}`);
  await service.end('SIGTERM');
}
