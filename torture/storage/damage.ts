import { closeSync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import type { Random } from '../random.ts';

const pageBytes = 4_096;

/** A way to damage the files of a closed store. */
export interface Damage {
  readonly name: string;
  /** True if only the -wal is damaged. Then the store must be intact, but may lack the newest commits. */
  readonly isOfWal: boolean;
  apply(file: string, random: Random): void;
}

export const damages: readonly Damage[] = [
  { name: 'its header overwritten', isOfWal: false, apply: (file, random) => scribble(file, 0, 100, random) },
  {
    name: 'a page in the middle overwritten',
    isOfWal: false,
    apply(file, random) {
      const page = random.between(2, Math.floor(statSync(file).size / pageBytes) - 1);
      scribble(file, page * pageBytes, pageBytes, random);
    },
  },
  {
    name: 'its end cut off',
    isOfWal: false,
    apply: (file, random) => cut(file, random.between(pageBytes, statSync(file).size - 1)),
  },
  {
    name: 'its -wal overwritten',
    isOfWal: true,
    apply(file, random) {
      const wal = `${file}-wal`;
      scribble(wal, random.between(0, statSync(wal).size - 64), 64, random);
    },
  },
  {
    name: 'its -wal cut off',
    isOfWal: true,
    apply: (file, random) => cut(`${file}-wal`, random.between(0, statSync(`${file}-wal`).size - 1)),
  },
  { name: 'its -wal deleted', isOfWal: true, apply: (file) => rmSync(`${file}-wal`) },
];

function scribble(file: string, at: number, length: number, random: Random): void {
  const bytes = Buffer.from(Array.from({ length }, () => random.between(0, 255)));
  const handle = openSync(file, 'r+');
  writeSync(handle, bytes, 0, length, at);
  closeSync(handle);
}

function cut(file: string, length: number): void {
  const handle = openSync(file, 'r+');
  ftruncateSync(handle, length);
  closeSync(handle);
}
