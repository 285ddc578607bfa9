import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Random } from '../random.ts';
import { applyChange, type Change, type Disk, type DiskFile } from './disk.ts';

/** Chooses which sectors of one file's unsynced changes reached the disk. */
type Choice = (changes: readonly Change[], random: Random) => (change: number, sector: number) => boolean;

/** How a power loss may treat unsynced changes. A later write may survive even if an earlier write is lost. */
const choices: readonly Choice[] = [() => () => false, () => () => true, keepFirst, keepEach, keepSectors];

/** Keeps the first changes, and about half of the sectors of the next change. */
function keepFirst(changes: readonly Change[], random: Random) {
  const whole = random.between(0, changes.length);
  return (change: number) => change < whole || (change === whole && random.next() < 0.5);
}

/** Keeps or drops each change as a whole. */
function keepEach(changes: readonly Change[], random: Random) {
  const kept = changes.map(() => random.next() < 0.5);
  return (change: number) => kept[change] === true;
}

/** Keeps or drops each sector of each change. */
function keepSectors(_changes: readonly Change[], random: Random) {
  const share = random.next();
  return () => random.next() < share;
}

/** Writes the files of a disk into an empty folder as a power loss at this moment may leave them. */
export function writeImage(disk: Disk, root: string, folder: string, random: Random): void {
  mkdirSync(folder, { recursive: true });
  const choice = random.pick(choices);
  const names = disk.list(choice === choices[0] ? 0 : random.between(0, disk.countUnsyncedNames()));
  for (const [path, file] of names) {
    const target = join(folder, relative(root, path));
    if (file.isFolder) {
      mkdirSync(target);
      continue;
    }
    writeFileSync(target, loseUnsynced(file, choice, random));
    // The old shared memory may contain anything.
    if (path.endsWith('.db') && random.next() < 0.5) writeFileSync(`${target}-shm`, makeNoise(random));
  }
}

function loseUnsynced({ durable, unsynced }: DiskFile, choice: Choice, random: Random): Buffer {
  const isKept = choice(unsynced, random);
  let bytes: Buffer = Buffer.from(new Uint8Array(durable).buffer);
  for (const [number, change] of unsynced.entries())
    if (change.kind === 'write' || isKept(number, 0))
      bytes = applyChange(bytes, change, (sector) => isKept(number, sector));
  return bytes;
}

function makeNoise(random: Random): Buffer {
  return Buffer.alloc(
    32_768,
    Uint8Array.from({ length: 509 }, () => random.between(0, 255)),
  );
}
