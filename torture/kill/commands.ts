import { existsSync, rmSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readToEnd, spawnProgram } from '../../test/support/processes.ts';
import { requireKept, startLoad } from '../load.ts';
import { createRandom } from '../random.ts';
import { type Scenario, share, type TortureContext } from '../scenario.ts';
import { createEmbeddedStore, type EmbeddedStore, requireWhole } from '../store.ts';

const killsAtFullScale = 20;
const rowsAtFullScale = 200_000;

/** A command to be killed, with a check of its result. */
interface Victim {
  readonly name: string;
  /** Prepares a run and returns the arguments of the command. */
  args(): readonly string[];
  /** Throws if the command left a partial result. `hasEnded` is true if the command finished before the kill. */
  check(hasEnded: boolean): Promise<void>;
}

export const killCommands: Scenario = {
  name: 'kill-commands',
  title: 'import, backup and migrate are killed at random moments while a service runs',
  minutes: 10,
  async run(context) {
    const store = createEmbeddedStore(context, join(context.folder, 'store.db'));
    const rows = share(rowsAtFullScale, context, 5_000);
    const csv = join(context.folder, 'animals.csv');
    await writeFile(csv, formatCsv(rows));
    await requireEnd(store, ['import', csv]);
    const { key } = await store.createKey();
    const service = await store.start();
    const load = startLoad(context, [service], key, { writers: 1, readers: 1, prefix: 'beside' });
    const kills = share(killsAtFullScale, context);
    for (const victim of [
      await killImport(store, csv, rows),
      killBackup(context, store),
      await killMigrate(context, store),
    ])
      await torment(context, store, victim, kills);
    const refused = load.count('add 503');
    if (refused > 0) throw new Error(`the service refused ${refused} adds`);
    await requireKept(store, await load.stop());
    await requireWhole(store);
    const { code } = await service.end('SIGTERM');
    if (code !== 0) throw new Error(`the service ended with ${code}`);
    return {
      done: `SIGKILL of import, backup and migrate at random moments while a service runs, ${kills} times each, ${rows} animals`,
      seen: `Nothing: the service gave ${load.countAnswers()} answers, none of them a 5xx`,
      lost: 'Nothing: each import and migration was complete or had no effect; no incomplete backup had its final name',
      well: 'at once: run the command again',
    };
  },
};

function formatCsv(rows: number): string {
  return `name,categoryId\n${Array.from({ length: rows }, (_, row) => `animal ${row},${row}\n`).join('')}`;
}

async function requireEnd(store: EmbeddedStore, args: readonly string[]): Promise<void> {
  const { code, stderr } = await store.run(...args);
  if (code !== 0) throw new Error(`${args[0]} failed: ${stderr}`);
}

/** Kills a command repeatedly, each time after a random part of its usual duration. */
async function torment(
  { seed, log }: TortureContext,
  store: EmbeddedStore,
  victim: Victim,
  kills: number,
): Promise<void> {
  const random = createRandom(seed);
  const startedMs = performance.now();
  await requireEnd(store, victim.args());
  const usualMs = performance.now() - startedMs;
  await victim.check(true);
  let ended = 0;
  for (let round = 0; round < kills; round += 1) {
    const child = spawnProgram(victim.args(), { settings: store.settings });
    const timer = setTimeout(() => child.kill('SIGKILL'), random.next() * usualMs * 1.1);
    const { code } = await readToEnd(child);
    clearTimeout(timer);
    if (code !== null && code !== 0) throw new Error(`${victim.name} ended with ${code}`);
    if (code === 0) ended += 1;
    await victim.check(code === 0);
    await requireWhole(store);
  }
  log(`${victim.name}: killed ${kills - ended} times, finished before the kill ${ended} times`);
}

/** Counts the imported animals. The load adds animals with a negative category. */
async function countAnimals(store: EmbeddedStore): Promise<number> {
  const [row] = await store.query('select count(*) as count from pets where category_id >= 0');
  return Number(row?.['count']);
}

async function killImport(store: EmbeddedStore, csv: string, rows: number): Promise<Victim> {
  let before = await countAnimals(store);
  return {
    name: 'import',
    args: () => ['import', csv],
    async check(hasEnded) {
      const count = await countAnimals(store);
      // An import that was killed after its commit has added all rows.
      const isRight = count === before + rows || (!hasEnded && count === before);
      if (!isRight) throw new Error(`an import added ${count - before} of ${rows} animals`);
      before = count;
    },
  };
}

function killBackup(context: TortureContext, store: EmbeddedStore): Victim {
  const folder = context.folder;
  const file = join(folder, 'backup.db');
  return {
    name: 'backup',
    args() {
      rmSync(file, { force: true });
      return ['backup', file];
    },
    async check(hasEnded) {
      for (const name of await readdir(folder)) if (name.endsWith('.tmp')) rmSync(join(folder, name));
      if (!existsSync(file)) {
        if (hasEnded) throw new Error('a backup that succeeded left no file');
        return;
      }
      const copy = createEmbeddedStore(context, file);
      await requireWhole(copy);
      if ((await countAnimals(copy)) !== (await countAnimals(store)))
        throw new Error('a backup lacks animals');
    },
  };
}

/**
 * Moves a backup, because a served store is not moved. The target is the same each time, because the next move must succeed
 * after a killed one.
 */
async function killMigrate(context: TortureContext, store: EmbeddedStore): Promise<Victim> {
  const source = join(context.folder, 'source.db');
  await requireEnd(store, ['backup', source]);
  const whole = await countAnimals(store);
  const copy = createEmbeddedStore(context, join(context.folder, 'moved.db'));
  return {
    name: 'migrate',
    args: () => ['migrate', '--from', `sqlite:${source}`, '--to', `sqlite:${copy.file}`],
    async check(hasEnded) {
      const isMade = existsSync(copy.file);
      if (!isMade && hasEnded) throw new Error('a migration that succeeded left no store');
      if (!isMade) return;
      // If the kill came before the target had its schema, this command creates the schema.
      await requireEnd(copy, ['migrate']);
      await requireWhole(copy);
      const count = await countAnimals(copy);
      if (count !== whole && (hasEnded || count !== 0))
        throw new Error(`a migration moved ${count} of ${whole} animals`);
      if (count === whole) for (const end of ['', '-wal', '-shm']) rmSync(copy.file + end, { force: true });
    },
  };
}
