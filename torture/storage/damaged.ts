import { existsSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEmbeddedStore, type EmbeddedStore, killGroup, requireWhole } from '../embedded-store.ts';
import { startLoad } from '../load.ts';
import { createRandom } from '../random.ts';
import { tryToStart } from '../refusal.ts';
import type { Scenario, TortureContext } from '../scenario.ts';
import { type Damage, damages } from './damage.ts';
import { requireFewLines } from './log-lines.ts';
import { probe } from './probe.ts';

const roundsAtFullScale = 10;
const imported = 4_000;

/** A store as a kill left it, with all that was answered: names by id. */
interface Original {
  readonly store: EmbeddedStore;
  readonly key: string;
  readonly backup: string;
  readonly names: ReadonlyMap<bigint, string>;
}

/** What the starts on damaged stores came to. */
interface Tally {
  refused: number;
  served: number;
  /** Requests that were answered with 503. */
  unavailable: number;
  /** The most animals that were lost with a -wal. */
  lostWithWal: number;
}

export const damaged: Scenario = {
  name: 'damaged',
  title: 'the files of a store that is not served are overwritten, cut off or deleted',
  minutes: 10,
  async run(context) {
    const original = await prepare(context);
    const random = createRandom(context.seed);
    const rounds = Math.max(1, Math.round(roundsAtFullScale * context.scale));
    const tally: Tally = { refused: 0, served: 0, unavailable: 0, lostWithWal: 0 };
    for (let round = 0; round < rounds; round += 1)
      for (const damage of damages) {
        // Over a main file that is damaged, a -wal with the same pages would heal it.
        const from = damage.isOfWal ? original.store.file : original.backup;
        const store = await copyStore(context, from, `${round} ${damage.name.replaceAll(' ', '-')}`);
        damage.apply(store.file, random);
        await face(context, { ...original, store }, damage, tally);
      }
    await restore(context, original);
    return {
      done: `The files of a stopped store ${damages.map(({ name }) => name).join(', ')}: each ${rounds} times, at random places`,
      seen: `${tally.refused} starts refused with one line and exit code 1; ${tally.served} served what was whole, and 503 \`unavailable\` for the rest; never a wrong animal`,
      lost: `With the main file: what was hit, until the backup is put back. With the \`-wal\`: the newest adds (at most ${tally.lostWithWal} here), never one between others`,
      well: 'With the backup in its place: at once, with all that it holds',
      figures: { ...tally },
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
  const load = await startLoad(context, service, key, { writers: 4, readers: 0, prefix: 'late' });
  await load.until('add 201', 100);
  const late = await load.stop();
  killGroup(service.child);
  await service.end();
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

/** Starts on a store that is damaged and asks for everything: what comes must be right, or be refused. */
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
    requireWhole(store);
    tally.lostWithWal = Math.max(tally.lostWithWal, requirePrefix(store, names));
  }
  const { code } = await service.end('SIGTERM');
  if (code === null) throw new Error(`with ${name} the service did not end by itself`);
  requireFewLines(service.readLog());
}

/** Throws where an animal is missing that is older than one that is there; gives how many of the newest are. */
function requirePrefix(store: EmbeddedStore, names: ReadonlyMap<bigint, string>): number {
  const ids = new Set(store.query('select id from pets').map(({ id }) => id as bigint));
  const kept = [...names.keys()].filter((id) => ids.has(id));
  const newest = kept.reduce((largest, id) => (id > largest ? id : largest), 0n);
  const gap = [...names.keys()].find((id) => id < newest && !ids.has(id));
  if (gap !== undefined) throw new Error(`the animal ${gap} is lost, and ${newest} is there`);
  return names.size - kept.length;
}

/** As docs/operations.md says: the file in its place, nothing beside it. */
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
